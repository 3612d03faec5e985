/** The journal as a target of invariant 6, read as a consumer would: line by line, never the whole file at once. */
import { createReadStream } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { messageOf } from '../../runtime/outage.ts';
import { TargetUnreadable, type Target, type TargetRecord } from './target.ts';

const TAIL_BYTES = 256 * 1024;

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
    openTail: async () => ({
      partitions: (stream) => [{ trimmed: true, records: () => tailOf(join(directory, `${stream}.jsonl`)) }],
      partitionOf: () => 0,
      close: async () => undefined,
    }),
  };
}

/** The last whole lines of a file: at least one where there is one. */
async function* tailOf(file: string): AsyncGenerator<TargetRecord> {
  let size: number;
  try {
    ({ size } = await stat(file));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return;
    throw new TargetUnreadable(messageOf(error), { cause: error });
  }
  for (let bytes = TAIL_BYTES; ; bytes *= 4) {
    const start = Math.max(0, size - bytes);
    const found: TargetRecord[] = [];
    for await (const line of createInterface({
      input: createReadStream(file, { encoding: 'utf8', start }),
    })) {
      const record = parse(line);
      if (record !== null) found.push(record);
    }
    if (found.length > 0 || start === 0) {
      yield* found;
      return;
    }
  }
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
      ? ({ headers: {}, ...record } as unknown as TargetRecord)
      : null;
  } catch {
    return null;
  }
}
