/** Messages, flights and random ones of both, for the tests of this room. */
import fc from 'fast-check';
import type { FlightRecord } from '../../src/domain/flight.ts';
import { flid, msgId, type Flid } from '../../src/domain/ids.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import type {
  Body,
  DecodedMessage,
  Entry,
  FlightPatch,
  Header,
  ReferenceRecord,
  Write,
} from '../../src/domain/message.ts';
import type { Decision } from '../../src/domain/outcome.ts';
import type { ReferenceType } from '../../src/domain/reference.ts';
import { applyReference, EMPTY_REFERENCE } from '../../src/domain/reference-fold.ts';
import { decide, type DecisionInput } from '../../src/domain/decide/index.ts';

export const F1 = flid('700001');
export const F2 = flid('700002');
export const F3 = flid('700003');
export const DAY = '2026-03-14';
export const SODT = '2026-03-14T08:05:00+08:00';
export const NOW = '2026-03-14T06:00:00+08:00';

export const scalar = (
  field: Extract<Write, { kind: 'scalar' }>['field'],
  value: string | number | null,
): Write => ({ kind: 'scalar', field, value });
export const list = (
  field: Extract<Write, { kind: 'list' }>['field'],
  ...entries: readonly Entry[]
): Write => ({ kind: 'list', field, entries });
export const delay = (code: string, minutes: number): Write => ({
  kind: 'delay',
  code,
  value: { start: SODT, minutes, remark: null },
});
export const CLEAR_DELAYS: Write = { kind: 'delays-cleared' };
export const push = (stand: string, time: string | null): Write => ({
  kind: 'push',
  stand,
  value: time === null ? null : { time, indicator: 'OUT' },
});
export const tractor = (stand: string, value: string | null): Write => ({ kind: 'tractor', stand, value });
export const patch = (id: Flid, ...writes: readonly Write[]): FlightPatch => ({ flid: id, writes });

export function message(body: Body, header: Partial<Header> = {}): DecodedMessage {
  return {
    header: {
      sender: 'AODB',
      sequence: '1',
      dttm: NOW,
      type: 'FLOP',
      subtype: 'TRML',
      echo: null,
      ...header,
    },
    body,
    contentHash: '0'.repeat(64),
    unknownElements: [],
    unmatchedStands: 0,
  };
}

/** A schedule whose count is right. Records get the usual scheduled time unless they bring one. */
export function schedule(
  records: readonly FlightPatch[],
  subtype: 'DNLD' | 'RESP' | 'ADFT' = 'DNLD',
): DecodedMessage {
  const full = records.map((record) => ({
    ...record,
    writes: [scalar('scheduledTime', SODT), ...record.writes],
  }));
  return message(
    { kind: 'schedule', subtype, declared: String(records.length), records: full },
    { type: 'SCHD', subtype },
  );
}
export const operation = (...records: readonly FlightPatch[]): DecodedMessage =>
  message({ kind: 'operation', subtype: 'TRML', records });
export const deletion = (...flids: readonly Flid[]): DecodedMessage =>
  message({ kind: 'deletion', flids }, { type: 'FLOP', subtype: 'FDEL' });
export function referenceMessage(
  op: 'DNLD' | 'RESP' | 'ADD' | 'UPD' | 'DEL',
  ...records: readonly (readonly [string, JsonObject])[]
): DecodedMessage {
  return message(
    {
      kind: 'reference',
      rtype: 'ABDG',
      operation: op,
      declared: String(records.length),
      records: records.map(([key, body]): ReferenceRecord => ({ key, body })),
    },
    { type: 'ABDG', subtype: op },
  );
}

/** The mutable world a batch of messages meets, as the caller of `decide` keeps it. */
export class World {
  readonly flights = new Map<Flid, FlightRecord>();
  readonly references = new Map<string, ReferenceType>();

  /** Decides a message and applies what it changes. */
  run(id: bigint | number, decoded: DecodedMessage, overrides: Partial<DecisionInput> = {}): Decision {
    const decision = decide({
      msgId: msgId(BigInt(id)),
      message: decoded,
      flight: (wanted) => this.flights.get(wanted) ?? null,
      reference: (rtype) => this.references.get(rtype) ?? EMPTY_REFERENCE,
      now: NOW,
      cutoff: '00:00',
      openRequests: [],
      clockSkewMs: 30_000,
      allowEmptyReference: false,
      ...overrides,
    });
    if (decision.state === 'SUCCEEDED') {
      for (const { after } of decision.flights) this.flights.set(after.flid, after);
      const { reference } = decision;
      if (reference !== null) {
        const before = this.references.get(reference.rtype) ?? EMPTY_REFERENCE;
        this.references.set(reference.rtype, applyReference(before, reference));
      }
    }
    return decision;
  }

  flight(id: Flid): FlightRecord {
    const found = this.flights.get(id);
    if (found === undefined) throw new Error(`no flight ${id}`);
    return found;
  }
}

/** As a value looks after PostgreSQL's jsonb: other key order, all else the same. */
export function throughJsonb<T>(value: T): T {
  return JSON.parse(JSON.stringify(value), (_key, parsed: unknown) =>
    typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
      ? Object.fromEntries(Object.entries(parsed).sort(([a], [b]) => a.length - b.length || (a < b ? -1 : 1)))
      : parsed,
  ) as T;
}

const STANDS = ['204', '401#', 'constructor', '__proto__'] as const;
const CODES = ['81', '93', 'constructor', '__proto__'] as const;
const TIMES = ['2026-03-14T08:20:00+08:00', '2026-03-14T09:00:00+08:00'] as const;

const standCode = fc.constantFrom(...STANDS);
const timeOrNull = fc.option(fc.constantFrom(...TIMES));
const standEntry = fc.record({
  seq: fc.integer({ min: 1, max: 3 }),
  code: fc.option(standCode),
  plannedFrom: timeOrNull,
});
const gateEntry = fc.record({ seq: fc.integer({ min: 1, max: 3 }), code: fc.constantFrom('04', 'G33') });

/** One write, from small pools, so that messages meet in the same registers. */
export const anyWrite: fc.Arbitrary<Write> = fc.oneof(
  fc.constantFrom('T1', 'T2', null).map((value) => scalar('terminal', value)),
  fc.constantFrom('DELAY', null).map((value) => scalar('externalStatus.code', value)),
  fc.constantFrom(1, 2, null).map((value) => scalar('vip.count', value)),
  fc.array(gateEntry, { maxLength: 3 }).map((entries) => list('gates', ...entries)),
  fc.array(standEntry, { maxLength: 3 }).map((entries) => list('stands', ...entries)),
  fc
    .tuple(fc.constantFrom(...CODES), fc.integer({ min: 1, max: 3 }))
    .map(([code, minutes]) => delay(code, minutes)),
  fc.constant(CLEAR_DELAYS),
  fc.tuple(standCode, timeOrNull).map(([stand, at]) => push(stand, at)),
  fc.tuple(standCode, timeOrNull).map(([stand, at]) => tractor(stand, at)),
);

/** Writes of one message. */
export const anyWrites = fc.array(anyWrite, { minLength: 1, maxLength: 6 });

const anyFlid = fc.constantFrom(F1, F2, F3);
const anyPatch = fc.tuple(anyFlid, anyWrites).map(([id, writes]) => patch(id, ...writes));

/** A message about flights: schedules of distinct flights, updates (also of one flight twice), deletions. */
export const anyFlightMessage: fc.Arbitrary<DecodedMessage> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.uniqueArray(anyPatch, { maxLength: 3, selector: (p) => p.flid }).map((p) => schedule(p)),
  },
  { weight: 6, arbitrary: fc.array(anyPatch, { minLength: 1, maxLength: 3 }).map((p) => operation(...p)) },
  { weight: 2, arbitrary: fc.uniqueArray(anyFlid, { minLength: 1 }).map((ids) => deletion(...ids)) },
);

const anyReferenceRecord = fc.tuple(
  fc.constantFrom('212', '0112', '213', '__proto__'),
  fc.constantFrom<JsonObject>({ name: 'a' }, { name: 'b' }),
);

/** A reference message that is no answer. */
export const anyReferenceMessage: fc.Arbitrary<DecodedMessage> = fc
  .tuple(
    fc.constantFrom('DNLD', 'ADD', 'UPD', 'DEL'),
    fc.array(anyReferenceRecord, { minLength: 1, maxLength: 3 }),
  )
  .map(([op, records]) => referenceMessage(op, ...records));

/** Messages numbered by their place, from 1, and a permutation of them. */
export function permuted<T>(
  values: fc.Arbitrary<T>,
  maxLength: number,
): fc.Arbitrary<{
  readonly inOrder: readonly (readonly [bigint, T])[];
  readonly shuffled: readonly (readonly [bigint, T])[];
}> {
  return fc.array(values, { minLength: 1, maxLength }).chain((all) => {
    const inOrder = all.map((value, index) => [BigInt(index + 1), value] as const);
    return fc
      .shuffledSubarray(inOrder, { minLength: inOrder.length, maxLength: inOrder.length })
      .map((shuffled) => ({ inOrder, shuffled }));
  });
}
