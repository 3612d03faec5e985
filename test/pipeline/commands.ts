/** What may happen to a pipeline, as data: printed by a failure, shrunk by fast-check, played by the player. */
import fc from 'fast-check';
import { xml } from '../kit/messages.ts';

export const STATIONS = ['inbox', 'scan', 'pump', 'delivery', 'backfill'] as const;
export type Station = (typeof STATIONS)[number];

/**
 * What happens in the middle of a station's round, at its Nth call of a database, the mailbox or the target, or just
 * after it: the process dies; its connections break and it goes on; somebody else takes over; a writer commits.
 */
export interface Meanwhile {
  readonly at: number;
  readonly what: 'crash' | 'cut' | 'takeover' | 'commit';
}

/** Writers are numbered; the transaction of one begins with its first insert. */
export type Command =
  | { readonly do: 'insert'; readonly writer: number; readonly message: Message }
  /** Takes an ID outside any transaction, for a later `fill`: nobody can see that it has an owner. */
  | { readonly do: 'reserve' }
  | { readonly do: 'fill'; readonly writer: number; readonly message: Message }
  | { readonly do: 'commit' | 'rollback'; readonly writer: number }
  | { readonly do: 'round'; readonly station: Station; readonly meanwhile: Meanwhile | null }
  /** A round of the station of an instance that was replaced. */
  | { readonly do: 'stale'; readonly station: Station }
  | { readonly do: 'advance'; readonly seconds: number }
  | { readonly do: 'crash' | 'takeover' | 'refuse' | 'republish' };

export type MessageKind =
  | 'schedule'
  | 'gate'
  | 'remark'
  | 'delay'
  | 'no-delays'
  | 'delete'
  | 'wrong-count'
  | 'other-day'
  | 'malformed'
  | 'unsupported'
  | 'ignored'
  | 'unknown-format';

/** Equal numbers of messages of a kind make the same identity. */
export interface Message {
  readonly kind: MessageKind;
  readonly number: number;
  readonly flid: string;
  readonly value: string;
}

/** How a pipeline is set up. */
export interface Setting {
  readonly holeRelease: 'elapsed' | 'proved';
  readonly claimBatch: number;
  readonly commitBatch: number;
}

export const setting: fc.Arbitrary<Setting> = fc.record({
  holeRelease: fc.constantFrom('elapsed', 'proved'),
  claimBatch: fc.constantFrom(2, 500),
  commitBatch: fc.constantFrom(1, 2, 500),
});

const message: fc.Arbitrary<Message> = fc.record({
  kind: weighted<MessageKind>([
    [6, 'gate'],
    [5, 'schedule'],
    [3, 'remark'],
    [3, 'delay'],
    [1, 'no-delays'],
    [2, 'delete'],
    [1, 'wrong-count'],
    [1, 'other-day'],
    [1, 'malformed'],
    [1, 'unsupported'],
    [1, 'ignored'],
    [1, 'unknown-format'],
  ]),
  number: fc.integer({ min: 1, max: 12 }),
  flid: fc.constantFrom('701', '702'),
  value: fc.constantFrom('1', '2', '3'),
});
const writer = fc.integer({ min: 0, max: 2 });
const meanwhile: fc.Arbitrary<Meanwhile> = fc.record({
  at: fc.integer({ min: 1, max: 9 }),
  what: fc.constantFrom('crash', 'cut', 'takeover', 'commit'),
});

const ROUND = {
  inbox: { do: 'round', station: 'inbox', meanwhile: null },
  pump: { do: 'round', station: 'pump', meanwhile: null },
} as const;
const BEGIN: readonly Command[] = [
  ...['701', '702'].map((flid): Command => ({
    do: 'insert',
    writer: 0,
    message: { kind: 'schedule', number: Number(flid), flid, value: '1' },
  })),
  { do: 'commit', writer: 0 },
];

const command: fc.Arbitrary<Command> = fc.oneof(
  at(9, { do: fc.constant('insert' as const), writer, message }),
  at(2, { do: fc.constant('reserve' as const) }),
  at(2, { do: fc.constant('fill' as const), writer, message }),
  at(6, { do: fc.constant('commit' as const), writer }),
  at(2, { do: fc.constant('rollback' as const), writer }),
  at(12, {
    do: fc.constant('round' as const),
    station: weighted<Station>([
      [4, 'inbox'],
      [2, 'scan'],
      [4, 'pump'],
      [2, 'delivery'],
      [2, 'backfill'],
    ]),
    meanwhile: fc.option(meanwhile, { freq: 2 }),
  }),
  at(2, { do: fc.constant('stale' as const), station: fc.constantFrom(...STATIONS) }),
  at(5, { do: fc.constant('advance' as const), seconds: fc.constantFrom(1, 20, 31, 130) }),
  at(2, {
    do: fc.constantFrom('crash' as const, 'takeover' as const, 'refuse' as const, 'republish' as const),
  }),
);

/** A whole that chance alone seldom makes. */
const passage: fc.Arbitrary<readonly Command[]> = fc.oneof(
  // An ID is passed as empty and filled afterwards.
  fc
    .tuple(writer, message, message, fc.constantFrom(20, 31))
    .map(([who, first, late, seconds]): readonly Command[] => [
      { do: 'reserve' },
      { do: 'insert', writer: who, message: first },
      { do: 'commit', writer: who },
      ROUND.inbox,
      { do: 'advance', seconds },
      ROUND.inbox,
      { do: 'fill', writer: who, message: late },
      { do: 'commit', writer: who },
    ]),
  // A writer that was seen stays open for long.
  fc
    .tuple(message, message, fc.constantFrom(31, 130))
    .map(([slow, quick, seconds]): readonly Command[] => [
      { do: 'insert', writer: 0, message: slow },
      { do: 'insert', writer: 1, message: quick },
      { do: 'commit', writer: 1 },
      ROUND.inbox,
      { do: 'advance', seconds },
      ROUND.inbox,
      { do: 'commit', writer: 0 },
    ]),
  // Something to deliver.
  fc
    .tuple(writer, message, message)
    .map(([who, ...messages]): readonly Command[] => [
      ...messages.map((each) => ({ do: 'insert' as const, writer: who, message: each })),
      { do: 'commit', writer: who },
      ROUND.inbox,
      ROUND.pump,
    ]),
);

/** Begins with both flights, so that what follows has something to change. */
export const commands: fc.Arbitrary<readonly Command[]> = fc
  .array(
    fc.oneof(
      { weight: 8, arbitrary: command.map((one): readonly Command[] => [one]) },
      { weight: 1, arbitrary: passage },
    ),
    { minLength: 12, maxLength: 34, size: 'max' },
  )
  .map((parts) => [...BEGIN, ...parts.flat()]);

/** The message as it stands in the mailbox. */
export function textOf({ kind, number, flid, value }: Message): string {
  const record = (day: string) =>
    `<FLTR><FLID>${flid}</FLID><FLNO>XX${value}</FLNO><MVIN>D</MVIN><SODT>${day}MAR260805</SODT></FLTR>`;
  const operation = (styp: string, element: string) =>
    xml('FLOP', styp, `<FLOP><FLID>${flid}</FLID>${element}</FLOP>`, number);
  switch (kind) {
    case 'schedule':
      return xml('SCHD', 'DNLD', `<SCHD><RECS>1</RECS>${record('14')}</SCHD>`, number);
    case 'other-day':
      return xml('SCHD', 'ADFT', `<SCHD><RECS>1</RECS>${record('15')}</SCHD>`, number);
    case 'wrong-count':
      return xml('SCHD', 'DNLD', `<SCHD><RECS>7</RECS>${record('14')}</SCHD>`, number);
    case 'gate':
      return operation('GTDT', `<GTDT GTNO="1"><GATE>G${value}</GATE></GTDT>`);
    case 'remark':
      return operation('REMC', `<REMC>r${value}</REMC>`);
    case 'delay':
      return operation('DELY', `<DELY CODE="8${value}" STRT="14MAR260805" DURA="0100">late</DELY>`);
    case 'no-delays':
      return operation('DELY', '<DELY/>');
    case 'delete':
      return operation('FDEL', '<FDEL/>');
    case 'unknown-format':
      return operation('ESTM', `<ESTM>at ${value}</ESTM>`);
    case 'malformed':
      return `<MSG><META>${value}`;
    case 'unsupported':
      return xml('SCHS', 'DNLD', '<SCHS/>', number);
    case 'ignored':
      return xml('LDM', 'LDM', `<LDM>${value}</LDM>`, number);
  }
}

function at<T>(weight: number, model: { [K in keyof T]: fc.Arbitrary<T[K]> }) {
  return { weight, arbitrary: fc.record(model) };
}

function weighted<T>(values: readonly (readonly [number, T])[]): fc.Arbitrary<T> {
  return fc.oneof(...values.map(([weight, value]) => ({ weight, arbitrary: fc.constant(value) })));
}
