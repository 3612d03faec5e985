import { describe, expect, it } from 'vitest';
import { flightsNamed, referenceNamed, type DecisionInput } from '../../src/domain/decide/index.ts';
import type { Header } from '../../src/domain/message.ts';
import type { OpenRequest } from '../../src/domain/request.ts';
import {
  DAY,
  deletion,
  F1,
  F2,
  message,
  operation,
  patch,
  referenceMessage,
  scalar,
  schedule,
  World,
} from './kit.ts';

const header = { type: 'SCHD', subtype: 'DNLD' } as const;
const ELSEWHEN = scalar('scheduledTime', '2026-03-15T08:05:00+08:00');

describe('kinds that are not applied', () => {
  it('are skipped where ignored, failed for want of a processor where unsupported', () => {
    const world = new World();
    expect(world.run(1, message({ kind: 'ignored' }, { type: 'LDM', subtype: 'NONE' }))).toEqual({
      state: 'SKIPPED',
      reason: 'ignored:LDM/NONE',
      detail: null,
    });
    expect(world.run(2, message({ kind: 'unsupported' }, { type: 'SCHS', subtype: 'DNLD' }))).toEqual({
      state: 'FAILED',
      errorClass: 'UNSUPPORTED',
      reason: 'unsupported:SCHS/DNLD',
    });
  });
});

describe('the response guard', () => {
  it('stands before the checks of a package, for schedules and reference data', () => {
    const world = new World();
    const faulty = message({ kind: 'schedule', subtype: 'RESP', declared: '9', records: [] }, header);
    const skipped = { state: 'SKIPPED', reason: 'no-open-request', detail: null };
    expect(world.run(1, faulty)).toEqual(skipped);
    expect(world.run(2, schedule([patch(F1)], 'RESP'))).toEqual(skipped);
    expect(world.run(3, referenceMessage('RESP', ['212', {}]))).toEqual(skipped);
    expect(world.flights.size + world.references.size).toBe(0);
  });

  const SENT_AT = Date.parse('2026-03-14T06:00:00.700+08:00');
  const request = (overrides: Partial<OpenRequest> = {}): OpenRequest => ({
    ...{ reqId: 1n, rtype: 'SCHD', operationDay: DAY, sequence: '42', sentAt: SENT_AT },
    ...overrides,
  });
  /** The request that a RESP of one flight on 14 March answers, and how; null where it is skipped. */
  const answered = (
    openRequests: readonly OpenRequest[],
    meta: Partial<Header> = {},
    overrides: Partial<DecisionInput> = {},
  ) => {
    const response = schedule([patch(F1)], 'RESP');
    const decision = new World().run(
      1,
      { ...response, header: { ...response.header, dttm: '2026-03-14T06:00:00+08:00', ...meta } },
      { openRequests, ...overrides },
    );
    if (decision.state === 'SKIPPED') return null;
    return decision.state === 'SUCCEEDED' && decision.answer !== null
      ? [decision.answer.request.reqId, decision.answer.matched]
      : decision.state;
  };

  it('lets an answer to an open request pass, exactly by the echoed SEQN, else downgraded', () => {
    expect(answered([request()], { echo: '42' })).toEqual([1n, 'exact']);
    expect(answered([request({ operationDay: '2026-03-20' })], { echo: '42' })).toEqual([1n, 'exact']);
    expect(answered([request()])).toEqual([1n, 'downgraded']);
    // An echo that is there decides alone: the open request of the day is another's.
    expect(answered([request()], { echo: '43' })).toBeNull();
    expect(answered([request({ rtype: 'ABDG', operationDay: null })], { echo: '42' })).toBeNull();
  });

  it('without an echo wants the single open request of all the days named', () => {
    const other = request({ reqId: 2n, operationDay: '2026-03-15', sequence: '43' });
    expect(answered([other])).toBeNull();
    expect(answered([other, request()])).toEqual([1n, 'downgraded']);
    expect(answered([request(), request({ reqId: 3n, sequence: '44' })])).toBeNull();
    expect(answered([request({ operationDay: '2026-03-13' })], {}, { cutoff: '12:00' })).toEqual([
      1n,
      'downgraded',
    ]);
    const empty = message(
      { kind: 'schedule', subtype: 'RESP', declared: '0', records: [] },
      { ...header, dttm: '2026-03-14T06:00:00+08:00' },
    );
    expect(new World().run(1, empty, { openRequests: [other] }).state).toBe('SUCCEEDED');
    expect(new World().run(1, empty, { openRequests: [other, request()] }).state).toBe('SKIPPED');
  });

  it('refuses what was built before the request was sent, clock skew considered', () => {
    const [within, beyond] = ['2026-03-14T05:59:31+08:00', '2026-03-14T05:59:29+08:00'];
    for (const echo of [null, '42']) {
      expect(answered([request()], { dttm: within, echo })).toEqual([
        1n,
        echo === null ? 'downgraded' : 'exact',
      ]);
      expect(answered([request()], { dttm: beyond, echo })).toBeNull();
    }
    // DTTM has whole seconds: one built in the second of the request is not older.
    expect(answered([request()], {}, { clockSkewMs: 0 })).toEqual([1n, 'downgraded']);
  });

  it('goes by the type for reference data, and leaves a request unanswered by a package that is refused', () => {
    const asked = request({ rtype: 'ABDG', operationDay: null });
    const inputs = { openRequests: [asked], clockSkewMs: 24 * 3_600_000 };
    const answer = { request: asked, matched: 'downgraded' };
    expect(new World().run(1, referenceMessage('RESP', ['212', {}]), inputs)).toMatchObject({ answer });
    expect(new World().run(1, referenceMessage('RESP'), inputs)).toEqual({
      ...{ state: 'DEAD', errorClass: 'PROTOCOL', reason: 'empty-reference' },
      detail: { faults: ['empty-reference'] },
    });
    expect(new World().run(1, referenceMessage('DNLD', ['212', {}]), inputs)).toMatchObject({ answer: null });
  });
});

describe('a package', () => {
  const declared = (text: string | null): unknown =>
    new World().run(1, message({ kind: 'schedule', subtype: 'DNLD', declared: text, records: [] }, header));

  it('whose count is missing, no number or wrong is refused', () => {
    const dead = { state: 'DEAD', errorClass: 'PROTOCOL' };
    expect(declared(null)).toMatchObject({ ...dead, reason: 'recs-mismatch:missing/0' });
    expect(declared('')).toMatchObject({ ...dead, reason: 'recs-mismatch:missing/0' });
    expect(declared('two')).toMatchObject({ ...dead, reason: 'recs-mismatch:two/0' });
    expect(declared('2')).toMatchObject({ ...dead, reason: 'recs-mismatch:2/0' });
    expect(declared('-0')).toMatchObject({ ...dead, reason: 'recs-mismatch:-0/0' });
    expect(declared('9'.repeat(40))).toMatchObject({ reason: `recs-mismatch:${'9'.repeat(32)}/0` });
    expect(declared('000')).toMatchObject({ state: 'SUCCEEDED' });
  });

  it('is refused as a whole, the first fault in the reason and all of them in the detail', () => {
    const world = new World();
    world.run(1, schedule([patch(F1), patch(F2)]));
    const before = new Map(world.flights);
    const records = [patch(F2, ELSEWHEN), patch(F1, ELSEWHEN), patch(F1, ELSEWHEN)];
    const decision = world.run(
      2,
      message({ kind: 'schedule', subtype: 'ADFT', declared: '2', records }, header),
    );
    expect(decision).toEqual({
      state: 'DEAD',
      errorClass: 'PROTOCOL',
      reason: 'recs-mismatch:2/3 (+3 more)',
      detail: {
        faults: [
          'recs-mismatch:2/3',
          'duplicate-flid:700001',
          'operation-day-conflict:700002',
          'operation-day-conflict:700001',
        ],
      },
    });
    expect(world.flights).toEqual(before);
  });

  it('cannot move a deleted flight to another day either', () => {
    const world = new World();
    world.run(1, schedule([patch(F1)]));
    world.run(2, deletion(F1));
    expect(world.run(3, schedule([patch(F1, ELSEWHEN)]))).toMatchObject({
      reason: 'operation-day-conflict:700001',
    });
    expect(world.run(4, operation(patch(F1, ELSEWHEN)))).toMatchObject({
      reason: 'operation-day-conflict:700001',
    });
  });

  it('of reference data without records is refused, unless loads may be empty', () => {
    const world = new World();
    const empty = referenceMessage('DNLD');
    expect(world.run(1, empty)).toMatchObject({
      state: 'DEAD',
      errorClass: 'PROTOCOL',
      reason: 'empty-reference',
    });
    expect(world.run(2, empty, { allowEmptyReference: true })).toMatchObject({ state: 'SUCCEEDED' });
    expect(world.run(3, referenceMessage('DEL'), { allowEmptyReference: true })).toMatchObject({
      reason: 'empty-reference',
    });
    const short = { ...empty, body: { ...empty.body, declared: '2' } } as typeof empty;
    expect(world.run(4, short)).toMatchObject({
      reason: 'recs-mismatch:2/0 (+1 more)',
      detail: { faults: ['recs-mismatch:2/0', 'empty-reference'] },
    });
  });
});

describe('what a message needs', () => {
  it('is named before it is decided', () => {
    expect(flightsNamed(operation(patch(F2), patch(F1), patch(F2)))).toEqual([F2, F1]);
    expect(flightsNamed(deletion(F1))).toEqual([F1]);
    expect(flightsNamed(referenceMessage('ADD', ['1', {}]))).toEqual([]);
    expect(referenceNamed(referenceMessage('DNLD', ['1', {}]))).toEqual({
      rtype: 'ABDG',
      keys: null,
      records: [{ key: '1', body: {} }],
    });
    expect(referenceNamed(referenceMessage('DEL', ['1', {}], ['1', {}]))).toEqual({
      rtype: 'ABDG',
      keys: ['1'],
      records: [
        { key: '1', body: {} },
        { key: '1', body: {} },
      ],
    });
    expect(referenceNamed(deletion(F1))).toBeNull();
  });

  it('is all that is looked up', () => {
    const world = new World();
    const asked: string[] = [];
    world.run(1, operation(patch(F1, scalar('terminal', 'T1'))), {
      flight: (flid) => {
        asked.push(flid);
        return null;
      },
    });
    expect(new Set(asked)).toEqual(new Set([F1]));
  });
});
