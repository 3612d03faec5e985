/** What must hold after every scenario, read from the journal and the tables without the help of `verify`. */
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'vitest';
import type { JsonObject } from '../../src/domain/json.ts';
import type { JournalLine, TestPipeline } from '../kit/service-pipeline.ts';

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
const schemaOf = (name: string): object =>
  JSON.parse(
    readFileSync(new URL(`../../schemas/v1/${name}.schema.json`, import.meta.url), 'utf8'),
  ) as object;
const validate = { msg: ajv.compile(schemaOf('msg')), schd: ajv.compile(schemaOf('schd')) };

/** `verify` finds nothing broken and leaves nothing unchecked. */
export async function expectClean(pipeline: TestPipeline): Promise<void> {
  const { clean, findings } = await pipeline.verifyReport();
  expect(findings.filter(({ answer }) => answer !== 'checked')).toEqual([]);
  expect(findings.map(({ invariant }) => invariant)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(clean).toBe(true);
}

/** First deliveries of each flight's changes, in the order of the journal. */
export function firstDeliveries(lines: readonly JournalLine[]): ReadonlyMap<string, readonly JournalLine[]> {
  const seen = new Set<string>();
  const byFlight = new Map<string, JournalLine[]>();
  for (const line of lines) {
    const id = String(line.value?.['eventId']);
    if (seen.has(id)) continue;
    seen.add(id);
    byFlight.set(line.key, [...(byFlight.get(line.key) ?? []), line]);
  }
  return byFlight;
}

/**
 * The journal against the tables: valid values, versions of each flight 1, 2, 3 … to the stored one, the last
 * state told is the stored one, and every terminal row is marked in the mailbox, and no other.
 */
export async function expectTold(pipeline: TestPipeline): Promise<void> {
  const changes = await pipeline.journal('msg');
  const states = await pipeline.journal('schd');
  expect(changes.flatMap(({ value }) => (validate.msg(value) ? [] : [validate.msg.errors]))).toEqual([]);
  expect(states.flatMap(({ value }) => (validate.schd(value) ? [] : [validate.schd.errors]))).toEqual([]);

  const flights = await pipeline.rows<{ flid: string; version: number; deleted: boolean; state: JsonObject }>(
    'select flid, version, deleted, state from flight_schd',
  );
  const delivered = firstDeliveries(changes);
  expect([...delivered.keys()].sort()).toEqual(flights.map(({ flid }) => flid).sort());
  const last = new Map(states.map(({ key, value }) => [key, value]));
  for (const { flid, version, deleted, state } of flights) {
    const versions = delivered.get(flid)?.map(({ value }) => value?.['stateVersion']);
    expect(versions, `versions of ${flid}`).toEqual(Array.from({ length: version }, (_, index) => index + 1));
    const told = last.get(flid);
    if (deleted) {
      expect(told, `last state of ${flid}`).toBeNull();
    } else {
      expect(told, `last state of ${flid}`).toMatchObject({ stateVersion: version });
      // Exactly as stored: nothing is added, left out or masked on the way.
      expect(told?.['flight']).toEqual(state);
    }
  }
  expect(await unmarked(pipeline)).toEqual([]);
}

/** Mailbox IDs without a mark. */
export async function unmarked(pipeline: TestPipeline): Promise<readonly string[]> {
  const rows = await pipeline.mailboxSide.rows();
  return rows.filter(({ marked }) => !marked).map(({ id }) => id);
}
