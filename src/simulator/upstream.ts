/**
 * The upstream's side of requests: reads COUTMSGS and answers as it is told to, at once or late, once, twice or never,
 * for the day asked or another, with a right or a wrong count. For tests and the demo.
 */
import type { Clock } from '../domain/clock.ts';
import { addDays } from '../domain/operation-day.ts';
import type { Mailbox } from '../mailbox/port.ts';
import { airportTime } from '../runtime/airport-time.ts';
import { referencePayload } from './reference-data.ts';
import { leaf, message, node } from './xml.ts';

/** A request as the upstream reads it. */
export interface ReceivedRequest {
  readonly outId: bigint;
  /** META/SEQN of the request. */
  readonly sequence: string;
  /** `SCHD` or a reference type. */
  readonly rtype: string;
  /** Local date of the first moment asked for; null for reference data. */
  readonly day: string | null;
}

/** What to do with a request. */
export interface Behaviour {
  readonly answer: 'once' | 'twice' | 'never' | 'wrong-day' | 'wrong-recs';
  readonly delayMs: number;
  /** Whether the answer carries the request's SEQN. */
  readonly echo: boolean;
  /** How much its clock is off, ms; negative where it is behind. */
  readonly clockOffMs?: number;
}

export interface UpstreamOptions {
  readonly mailbox: Pick<Mailbox, 'withOutbound' | 'insert'>;
  readonly clock: Clock;
  readonly timeZone: string;
  /** COUTMSGS rows up to here are of the past. */
  readonly after: bigint;
  readonly behave: (request: ReceivedRequest) => Behaviour;
  /** FLTR elements of a day. */
  readonly schedule: (day: string) => readonly string[];
  /** Records of a reference type. */
  readonly reference: (rtype: string) => readonly string[];
  /** Told after each answer that was written. */
  readonly onAnswer?: (request: ReceivedRequest) => Promise<void>;
}

interface Planned {
  readonly request: ReceivedRequest;
  readonly behaviour: Behaviour;
  readonly dueAt: number;
  readonly copy: number;
}

/** Rows read in one look. */
const PAGE = 200;
const LAST_SEQUENCE = 999_999;

export class ScriptedUpstream {
  readonly #options: UpstreamOptions;
  readonly #planned: Planned[] = [];
  #after: bigint;
  #reports = 0;

  constructor(options: UpstreamOptions) {
    this.#options = options;
    this.#after = options.after;
  }

  /** Error reports received. */
  get reports(): number {
    return this.#reports;
  }

  /** Reads what is new and writes the answers that are due; gives how many it wrote. Throws what the mailbox throws. */
  async poll(): Promise<number> {
    const { mailbox, clock, behave } = this.#options;
    const rows = await mailbox.withOutbound((outbound) => outbound.rowsAfter(this.#after, PAGE));
    for (const { id, text } of rows) {
      this.#after = id;
      const request = readRequest(id, text ?? '');
      if (request === null) this.#reports += (text ?? '').includes('<TYPE>EROR</TYPE>') ? 1 : 0;
      else {
        const behaviour = behave(request);
        const copies = behaviour.answer === 'never' ? 0 : behaviour.answer === 'twice' ? 2 : 1;
        const dueAt = clock.now() + behaviour.delayMs;
        for (let copy = 0; copy < copies; copy++) this.#planned.push({ request, behaviour, dueAt, copy });
      }
    }
    let written = 0;
    for (let next = this.#nextDue(); next !== null; next = this.#nextDue()) {
      await mailbox.insert(this.#answer(next));
      this.#planned.splice(this.#planned.indexOf(next), 1);
      await this.#options.onAnswer?.(next.request);
      written += 1;
    }
    return written;
  }

  #nextDue(): Planned | null {
    const now = this.#options.clock.now();
    return this.#planned.find(({ dueAt }) => dueAt <= now) ?? null;
  }

  #answer({ request, behaviour, copy }: Planned): string {
    const { clock, timeZone, schedule, reference } = this.#options;
    const { rtype, day, sequence } = request;
    const wanted = behaviour.answer === 'wrong-day' && day !== null ? addDays(day, 1) : day;
    const records = wanted === null ? reference(rtype) : schedule(wanted);
    const declared = records.length + (behaviour.answer === 'wrong-recs' ? 1 : 0);
    const payload =
      wanted === null
        ? referencePayload(records, declared)
        : node('SCHD', leaf('RECS', declared) + records.join(''));
    const builtAt = airportTime(clock.now() + (behaviour.clockOffMs ?? 0), timeZone);
    return message(
      {
        sender: 'AODB',
        // Its own counter for answers, which no restart repeats.
        sequence: String(((Number(request.outId) * 2 + copy) % LAST_SEQUENCE) + 1),
        dttm: builtAt.slice(0, 19).replaceAll(/[^0-9]/g, ''),
        type: rtype,
        subtype: 'RESP',
        ...(behaviour.echo ? { echo: sequence } : {}),
      },
      payload,
    );
  }
}

/** A request of the sis dialect; null where the row is none. */
function readRequest(outId: bigint, text: string): ReceivedRequest | null {
  const value = (name: string) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1] ?? null;
  const sequence = value('SEQN');
  if (value('TYPE') !== 'RQST' || sequence === null) return null;
  const rtype = value('RTYP');
  if (rtype !== null) return { outId, sequence, rtype, day: null };
  const from = value('FROM');
  return from === null ? null : { outId, sequence, rtype: 'SCHD', day: dateOf(from) };
}

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];

/** The date of a ddMMMyyHHmm. */
function dateOf(time: string): string {
  const month = MONTHS.indexOf(time.slice(2, 5).toUpperCase()) + 1;
  return `20${time.slice(5, 7)}-${String(month).padStart(2, '0')}-${time.slice(0, 2)}`;
}
