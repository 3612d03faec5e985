/** Days for the tests, and a receiver in memory that judges them as the pump would. */
import { decide } from '../../src/domain/decide/index.ts';
import type { FlightRecord } from '../../src/domain/flight.ts';
import { identityOf } from '../../src/domain/identity.ts';
import { msgId, type Flid } from '../../src/domain/ids.ts';
import { applyReference, EMPTY_REFERENCE } from '../../src/domain/reference-fold.ts';
import type { ReferenceType } from '../../src/domain/reference.ts';
import { loadDialect } from '../../src/dialect/registry.ts';
import type { Dialect } from '../../src/dialect/port.ts';
import { simulateDay } from '../../src/simulator/day.ts';
import type { DayOptions, Note, Step } from '../../src/simulator/steps.ts';

export const DAY: DayOptions = {
  seed: '1',
  day: '2026-03-14',
  count: 1_500,
  timeZone: 'Asia/Shanghai',
  airport: 'HGH',
  duplicates: 0,
  poison: 0,
  holes: 0,
  late: 0,
  unsupported: 0,
};

export function stepsOf(options: Partial<DayOptions> = {}): readonly Step[] {
  return [...simulateDay({ ...DAY, ...options })];
}

/** A step that carries a text. */
export type Written = Exclude<Step, { kind: 'hole' }>;

export function written(steps: readonly Step[]): readonly Written[] {
  return steps.filter((step) => step.kind !== 'hole');
}

export async function dialectFor(
  timeZone: string = DAY.timeZone,
  operationDayCutoff = '00:00',
): Promise<Dialect> {
  return loadDialect('sis', {
    timeZone,
    operationDayCutoff,
    maxMessageBytes: 8 * 1024 * 1024,
    maxDepth: 64,
    ignore: ['LDM', 'REGN', 'RSTA', 'EROR'],
    reference: null,
  });
}

/** What became of one message: state, class and reason. */
export interface Verdict {
  readonly note: Note;
  readonly text: string;
  readonly state: string;
  readonly errorClass: string | null;
  readonly reason: string | null;
}

/** Judges messages in the order given. */
export async function judge(
  messages: readonly Written[],
  { timeZone = DAY.timeZone, cutoff = '00:00' }: { timeZone?: string; cutoff?: string } = {},
): Promise<{ verdicts: readonly Verdict[]; flights: ReadonlyMap<Flid, FlightRecord> }> {
  const dialect = await dialectFor(timeZone, cutoff);
  const flights = new Map<Flid, FlightRecord>();
  const types = new Map<string, ReferenceType>();
  const identities = new Map<string, { id: bigint; hash: string }>();
  const verdicts = messages.map(({ note, text }, index): Verdict => {
    const id = msgId(BigInt(index + 1));
    const decoded = dialect.decode(text);
    if (decoded.outcome !== 'decoded') {
      const errorClass = decoded.outcome === 'malformed' ? 'MALFORMED' : 'CODEC_ERROR';
      return { note, text, state: 'DEAD', errorClass, reason: decoded.reason };
    }
    const { message } = decoded;
    const identity = identityOf(message.header, true);
    const bound = identities.get(identity);
    if (bound !== undefined) {
      const differs = bound.hash === message.contentHash ? '' : ' content-differs';
      return { note, text, state: 'SKIPPED', errorClass: null, reason: `duplicate-of:${bound.id}${differs}` };
    }
    identities.set(identity, { id, hash: message.contentHash });
    const decision = decide({
      msgId: id,
      message,
      flight: (flid) => flights.get(flid) ?? null,
      reference: (rtype) => types.get(rtype) ?? EMPTY_REFERENCE,
      now: '2026-03-14T06:00:00+08:00',
      cutoff,
      openRequests: [],
      clockSkewMs: 30_000,
      allowEmptyReference: false,
    });
    if (decision.state === 'SUCCEEDED') {
      for (const { after } of decision.flights) flights.set(after.flid, after);
      const change = decision.reference;
      if (change !== null) {
        types.set(change.rtype, applyReference(types.get(change.rtype) ?? EMPTY_REFERENCE, change));
      }
    }
    const errorClass = 'errorClass' in decision ? decision.errorClass : null;
    return { note, text, state: decision.state, errorClass, reason: decision.reason };
  });
  return { verdicts, flights };
}
