/** What a torture run says at its end: what was done to it, what came through, what was found. */
import type { Facts, Finding } from './checker/facts.ts';
import type { Counts } from './faults.ts';
import type { Instance } from './instance.ts';
import { quotaFor } from './schedule.ts';
import type { StubbornUpstream } from './upstream.ts';
import type { Watch } from './watch.ts';

/** What was done and how often. */
export type Done = Counts & { readonly takeovers: number };

const MOST_SHOWN = 20;

/** Times at which another instance than the one before became active. */
export function takeoversOf(instances: readonly Instance[]): number {
  const order = instances
    .flatMap((instance) => instance.epochs().map((epoch) => ({ epoch, name: instance.name })))
    .toSorted((left, right) => (left.epoch < right.epoch ? -1 : 1));
  return order.filter(({ name }, index) => index > 0 && order[index - 1]?.name !== name).length;
}

/** A process that ended though nobody had killed it, or complained: no fault of a server or the network may do that. */
export function endsOf(instances: readonly Instance[]): readonly string[] {
  return instances.flatMap((instance) => [
    ...instance.ownEnds.map(
      ({ code, signal, stderr }) =>
        `msgx ${instance.name} ended by itself: ${signal ?? String(code)} ${stderr}`,
    ),
    ...instance.stderr().map((text) => `msgx ${instance.name} wrote to stderr: ${text}`),
  ]);
}

/** The run was gentler than it says. */
export function missed(counts: Done, minutes: number): readonly string[] {
  const quota = quotaFor(minutes);
  const { kills, servers, network, takeovers } = counts;
  const done = { ...servers, kill: kills, network, takeover: takeovers };
  const names = Object.keys(quota) as (keyof typeof quota)[];
  return names.flatMap((name) =>
    done[name] < quota[name]
      ? [`quota of ${name} missed: ${String(done[name])} of ${String(quota[name])}`]
      : [],
  );
}

/** Says it in a table, and the first of the findings. */
export function summary(
  say: (line: string) => void,
  {
    counts,
    facts,
    upstream,
    watching,
    findings,
  }: {
    counts: Done;
    facts: Facts;
    upstream: StubbornUpstream;
    watching: Watch;
    findings: readonly string[];
  },
): void {
  const { kills, servers, network, freezes, lostAnswers, clocks, takeovers } = counts;
  const late = facts.messages.filter(({ late }) => late).length;
  const again = facts.changes.length - new Set(facts.changes.map(({ eventId }) => eventId)).size;
  const rows = {
    'kills of msgx': kills,
    'kills of MariaDB': servers.mariadb,
    'kills of PostgreSQL': servers.postgres,
    'kills of Kafka': servers.kafka,
    'network faults': network,
    'SIGSTOP and SIGCONT': freezes,
    'answers to commits lost': lostAnswers,
    'clock jumps': clocks,
    takeovers,
    'messages written': facts.mailbox.length,
    'writes repeated by the upstream': upstream.repeats,
    'messages processed': facts.messages.filter(({ terminalSeq }) => terminalSeq !== null).length,
    'of them late': late,
    'changes told': facts.changes.length,
    'of them again': again,
    'looks for early marks': watching.looks,
    findings: findings.length,
  };
  for (const [name, value] of Object.entries(rows)) say(`${name.padEnd(32)} ${String(value).padStart(7)}`);
  for (const line of findings.slice(0, MOST_SHOWN)) say(`  ${line}`);
  if (findings.length > MOST_SHOWN) say(`  and ${String(findings.length - MOST_SHOWN)} more in findings.txt`);
}

/** A finding of the checker as a line. */
export function lineOf({ kind, subject, detail }: Finding): string {
  return `${kind}: ${subject}: ${detail}`;
}
