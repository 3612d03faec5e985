/** What is done to a pipeline and when: a plan made from a seed, with a quota of each kind and everything else random. */
import { randomStream, type Random } from '../../src/simulator/random.ts';
import { TRANSACTIONS } from '../kit/station-transactions.ts';

export const SERVERS = ['mariadb', 'postgres', 'kafka'] as const;
export type Server = (typeof SERVERS)[number];

export const LINKS = ['database', 'mailbox', 'kafka'] as const;
/** What stands between an instance and a server. */
export type Link = (typeof LINKS)[number];

/** Which instance a fault hits; decided when it comes. */
export type Who = 'active' | 'standby';

export const NETWORK_FAULTS = [
  'delay',
  'cut',
  'blackhole',
  'refusal',
  'half-open, server gone',
  'half-open, client gone',
] as const;
export type NetworkFault = (typeof NETWORK_FAULTS)[number];

export type Fault =
  | { readonly kind: 'kill'; readonly who: Who; readonly downMs: number }
  /** A kill of the active instance while another one waits. */
  | { readonly kind: 'takeover'; readonly downMs: number }
  /** SIGSTOP, later SIGCONT. */
  | { readonly kind: 'freeze'; readonly who: Who; readonly forMs: number }
  | { readonly kind: 'server'; readonly server: Server; readonly downMs: number }
  | {
      readonly kind: 'network';
      readonly who: Who;
      readonly link: Link;
      readonly how: NetworkFault;
      readonly forMs: number;
      /** Of a delay, ms. */
      readonly delayMs: number;
    }
  /** The server commits, and the answer is lost. */
  | { readonly kind: 'lost-answer'; readonly transaction: (typeof TRANSACTIONS)[number] }
  /** The wall clock of the process is set. */
  | { readonly kind: 'clock'; readonly who: Who };

export interface Planned {
  /** ms after the start. */
  readonly at: number;
  readonly fault: Fault;
}

/** What a run of eight minutes has at least; shorter and longer ones in proportion, and one of each at least. */
export const QUOTA = { kill: 30, mariadb: 5, postgres: 5, kafka: 5, network: 20, takeover: 3 } as const;
const QUOTA_MINUTES = 8;

/** The least of a run of so many minutes. */
export function quotaFor(minutes: number): Readonly<Record<keyof typeof QUOTA, number>> {
  const of = (count: number) => Math.max(1, Math.ceil((count * minutes) / QUOTA_MINUTES));
  const { kill, mariadb, postgres, kafka, network, takeover } = QUOTA;
  return {
    kill: of(kill),
    mariadb: of(mariadb),
    postgres: of(postgres),
    kafka: of(kafka),
    network: of(network),
    takeover: of(takeover),
  };
}

/** The plan: always the same for the same seed and length. */
export function planFaults(seed: string, minutes: number): readonly Planned[] {
  const random = randomStream(seed, 'torture');
  const quota = quotaFor(minutes);
  const share = (of: number) => Math.max(1, Math.round((of * minutes) / QUOTA_MINUTES));
  const times = (count: number, make: (random: Random, index: number) => Fault) =>
    Array.from({ length: count }, (_, index) => make(random, index));
  // A takeover may fail to come in time where the other instance is away just then: more are planned than are due.
  const takeovers = quota.takeover + share(4);
  const faults = random.shuffle([
    ...times(takeovers, takeover),
    ...times(quota.kill - takeovers + share(3), kill),
    ...SERVERS.flatMap((server) => times(quota[server], () => killOf(server, random))),
    ...times(quota.network + share(4), network),
    ...times(share(8), freeze),
    ...times(share(9), lostAnswer),
    ...times(share(8), clock),
  ]);
  const distance = (minutes * 60_000) / faults.length;
  return faults.map((fault, index) => ({ at: Math.round((index + random.next()) * distance), fault }));
}

function who(random: Random): Who {
  return random.chance(0.7) ? 'active' : 'standby';
}

function takeover(random: Random): Fault {
  return { kind: 'takeover', downMs: random.int(0, 3_000) };
}

function kill(random: Random): Fault {
  return { kind: 'kill', who: who(random), downMs: random.int(0, 2_000) };
}

function killOf(server: Server, random: Random): Fault {
  return { kind: 'server', server, downMs: random.int(0, 4_000) };
}

/** Each kind in turn, so that a short run has them all. */
function network(random: Random, index: number): Fault {
  const how = NETWORK_FAULTS[index % NETWORK_FAULTS.length] ?? 'cut';
  return {
    kind: 'network',
    who: who(random),
    link: random.pick(LINKS),
    how,
    forMs: random.int(1_500, 9_000),
    delayMs: random.int(20, 400),
  };
}

function freeze(random: Random): Fault {
  // Longer and shorter than the lease lasts.
  return { kind: 'freeze', who: who(random), forMs: random.int(800, 9_000) };
}

function lostAnswer(_random: Random, index: number): Fault {
  return { kind: 'lost-answer', transaction: TRANSACTIONS[index % TRANSACTIONS.length] ?? TRANSACTIONS[0] };
}

function clock(random: Random): Fault {
  return { kind: 'clock', who: who(random) };
}
