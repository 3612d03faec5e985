/** Where a process is killed that sends a request or a report, and how each case has to end. */
import type { FailpointName } from '../../src/runtime/failpoints/names.ts';

/** What is sent: a request that the service makes by itself once a day, or the report of a malformed message. */
export type What = 'request' | 'report';

export interface KillCase {
  readonly what: What;
  /** One process after the other is killed, each at its point. */
  readonly points: readonly FailpointName[];
  /** What happens between the last two deaths, or before the process that ends it. */
  readonly meanwhile?: 'replaced' | 'answered';
  /** The mailbox refuses every insert until the last process starts. */
  readonly refused?: true;
  /** `requests.timeout`; by default too long to matter. */
  readonly timeout?: string;
  /** State of each record in the order of their making; by default one that is SENT. */
  readonly ended?: readonly string[];
}

/** Passed by whatever is sent. */
const WRITTEN = [
  'outbound.chosen',
  'outbound.locked',
  'outbound.noting',
  'outbound.noted',
  'outbound.inserted',
  'outbound.committed',
  'outbound.confirming',
  'outbound.confirmed',
] as const satisfies readonly FailpointName[];

/** Passed where the result of a try is not known: the row is there, or it is not. Of reports not all: it is one code. */
const LOOKED_FOR = [
  ['outbound.committed', 'outbound.looking'],
  ['outbound.committed', 'outbound.looked'],
  ['outbound.committed', 'outbound.confirming'],
  ['outbound.noted', 'outbound.looked'],
  ['outbound.noted', 'outbound.committed'],
] as const satisfies readonly (readonly FailpointName[])[];

const EXPIRED = { timeout: '500ms', ended: ['EXPIRED timeout'] } as const;
const REPLACED = { meanwhile: 'replaced', ended: ['EXPIRED replaced', 'SENT'] } as const;

export const KILL_CASES: readonly KillCase[] = [
  ...(['request.due', 'request.written', 'request.registered'] as const).map((point) => ({
    what: 'request' as const,
    points: [point],
  })),
  // Before its outcome is committed, and before anybody is told: the report is queued with the outcome.
  ...(['pump.decided', 'pump.committed'] as const).map((point) => ({
    what: 'report' as const,
    points: [point],
  })),
  ...(['request', 'report'] as const).flatMap((what) => [
    ...WRITTEN.map((point): KillCase => ({ what, points: [point] })),
    ...LOOKED_FOR.filter((points) => what === 'request' || points[1] === 'outbound.looked').map(
      (points): KillCase => ({ what, points }),
    ),
    ...(['outbound.refused', 'outbound.postponed'] as const).map((point): KillCase => ({
      what,
      points: [point],
      refused: true,
    })),
  ]),
  { what: 'request', points: ['outbound.noted', 'outbound.forgetting'], ...REPLACED },
  { what: 'request', points: ['outbound.noted', 'outbound.forgotten'], ...REPLACED },
  { what: 'request', points: ['outbound.committed'], meanwhile: 'answered', ended: ['DONE exact'] },
  ...(['request.overdue', 'request.expiring', 'request.expired'] as const).map((point): KillCase => ({
    what: 'request',
    points: [point],
    ...EXPIRED,
  })),
];

/** The points of the list that these cases are for. */
export const REQUEST_POINTS: readonly FailpointName[] = [
  ...new Set(KILL_CASES.flatMap(({ points }) => points).filter((point) => !point.startsWith('pump.'))),
];
