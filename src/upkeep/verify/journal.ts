/** The journal as a target of invariant 6, read as a consumer would: line by line, never the whole file at once. */
import { createReadStream } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Target, TargetRecord } from './target.ts';

/** The journal in a folder. A rotation may have taken older lines away. */
export function journalTarget(directory: string): Target {
  return {
    name: `the journal in ${directory}`,
    missing: `there is no journal in ${directory}`,
    open: async () => {
      if (!(await exists(join(directory, 'msg.jsonl')))) return null;
      return {
        partitions: (stream) => [{ trimmed: true, records: () => lines(join(directory, `${stream}.jsonl`)) }],
        partitionOf: () => 0,
        close: async () => undefined,
      };
    },
  };
}

/** Whole lines of a journal file; a missing file is empty, a torn last line is not a record yet. */
async function* lines(file: string): AsyncGenerator<TargetRecord> {
  if (!(await exists(file))) return;
  for await (const line of createInterface({ input: createReadStream(file, 'utf8'), crlfDelay: Infinity })) {
    const record = parse(line);
    if (record !== null) yield record;
  }
}

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

function parse(line: string): TargetRecord | null {
  try {
    const record: unknown = JSON.parse(line);
    return typeof record === 'object' && record !== null && 'key' in record && 'value' in record
      ? (record as TargetRecord)
      : null;
  } catch {
    return null;
  }
}
