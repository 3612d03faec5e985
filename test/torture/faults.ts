/** Does to the parts what the plan says, and counts what was done. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Instance } from './instance.ts';
import type { Parts } from './parts.ts';
import type { Fault, NetworkFault, Planned, Server, Who } from './schedule.ts';
import type { TcpProxy } from '../kit/tcp-proxy.ts';

/** How long a kill of the active instance waits for another one that could take over, ms. */
const TAKEOVER_PATIENCE_MS = 20_000;
/** How long a transaction is waited for whose answer is to be lost, ms. */
const LOSS_PATIENCE_MS = 20_000;
const LOOK_MS = 50;

/** What was done. */
export interface Counts {
  kills: number;
  readonly servers: Record<Server, number>;
  network: number;
  freezes: number;
  lostAnswers: number;
  clocks: number;
}

export interface Faults {
  readonly counts: Counts;
  /** Resolves when the plan is done, or broken off, and every server is back. */
  run(signal: AbortSignal): Promise<void>;
}

/** @param say a line about each fault when it begins */
export function faultsOf(
  plan: readonly Planned[],
  parts: Parts,
  instances: readonly [Instance, Instance],
  say: (line: string) => void,
): Faults {
  const counts: Counts = {
    kills: 0,
    servers: { mariadb: 0, postgres: 0, kafka: 0 },
    network: 0,
    freezes: 0,
    lostAnswers: 0,
    clocks: 0,
  };
  const busy = new Map<unknown, Promise<void>>();
  /** One thing after the other is done to a server or a proxy. */
  const alone = (what: unknown, work: () => Promise<void>): Promise<void> => {
    const done = (busy.get(what) ?? Promise.resolve()).then(work);
    busy.set(
      what,
      done.catch(() => undefined),
    );
    return done;
  };

  const activeOf = (): Instance | null => {
    const claims = instances.flatMap((instance) => {
      const line = instance.active;
      return line === null ? [] : [{ instance, epoch: BigInt(String(line['epoch'])) }];
    });
    return claims.toSorted((left, right) => (left.epoch < right.epoch ? 1 : -1))[0]?.instance ?? null;
  };
  const chosen = (who: Who): Instance => {
    const active = activeOf() ?? instances[0];
    return who === 'active' ? active : active === instances[0] ? instances[1] : instances[0];
  };

  const begin = async (fault: Fault): Promise<void> => {
    switch (fault.kind) {
      case 'kill': {
        const instance = chosen(fault.who);
        say(`kill -9 msgx ${instance.name} (${fault.who}), for ${seconds(fault.downMs)}`);
        await instance.kill(fault.downMs);
        counts.kills += 1;
        return;
      }
      case 'takeover': {
        const deadline = performance.now() + TAKEOVER_PATIENCE_MS;
        while (!chosen('standby').waiting && performance.now() < deadline) await sleep(LOOK_MS);
        const instance = chosen('active');
        const how = chosen('standby').waiting ? 'the other one waits' : 'nobody waits';
        say(`kill -9 msgx ${instance.name} (active, ${how}), for ${seconds(fault.downMs)}`);
        await instance.kill(fault.downMs);
        counts.kills += 1;
        return;
      }
      case 'freeze': {
        const instance = chosen(fault.who);
        say(`SIGSTOP msgx ${instance.name} (${fault.who}), for ${seconds(fault.forMs)}`);
        await instance.freeze(fault.forMs);
        counts.freezes += 1;
        return;
      }
      case 'clock': {
        const instance = chosen(fault.who);
        say(`clock of msgx ${instance.name} (${fault.who}) jumps`);
        await instance.setClock();
        counts.clocks += 1;
        return;
      }
      case 'server':
        await alone(fault.server, async () => {
          say(`kill -9 ${fault.server}, for ${seconds(fault.downMs)}`);
          await parts.killAndRestart(fault.server, fault.downMs);
          counts.servers[fault.server] += 1;
        });
        return;
      case 'network': {
        const instance = chosen(fault.who);
        const proxy = instance.wiring.proxies[fault.link];
        await alone(proxy, async () => {
          const length = fault.how === 'delay' ? ` of ${String(fault.delayMs)} ms` : '';
          say(
            `network of msgx ${instance.name} (${fault.who}) to ${fault.link}: ${fault.how}${length}, for ${seconds(fault.forMs)}`,
          );
          disturb(proxy, fault.how, fault.delayMs);
          await sleep(fault.forMs);
          restore(proxy, fault.how);
          counts.network += 1;
        });
        return;
      }
      case 'lost-answer': {
        const [texts, station, answer] = fault.transaction;
        const instance = chosen('active');
        say(`the answer to a commit of ${station} (${texts[0]}) of msgx ${instance.name} will be lost`);
        const lost = instance.wiring.proxies.database
          .loseAnswer(texts, answer)
          .then(() => (counts.lostAnswers += 1));
        await Promise.race([lost, sleep(LOSS_PATIENCE_MS)]);
      }
    }
  };

  return {
    counts,
    async run(signal) {
      const start = performance.now();
      const running: Promise<void>[] = [];
      for (const { at, fault } of plan) {
        await sleep(Math.max(0, start + at - performance.now()), undefined, { signal }).catch(
          () => undefined,
        );
        if (signal.aborted) break;
        running.push(
          begin(fault).catch((error: unknown) => say(`not done: ${JSON.stringify(fault)}: ${String(error)}`)),
        );
      }
      await Promise.all(running);
      await Promise.all(busy.values());
    },
  };
}

function disturb(proxy: TcpProxy, how: NetworkFault, delayMs: number): void {
  switch (how) {
    case 'delay':
      proxy.delay(delayMs);
      return;
    case 'cut':
      proxy.cut();
      return;
    case 'blackhole':
      proxy.silence();
      return;
    case 'refusal':
      proxy.refuse();
      proxy.cut();
      return;
    case 'half-open, server gone':
      proxy.halfOpen('server');
      return;
    case 'half-open, client gone':
      proxy.halfOpen('client');
  }
}

/** Half-open connections are left to those who hold them; new ones pass. */
function restore(proxy: TcpProxy, how: NetworkFault): void {
  proxy.heal();
  // The cable is plugged in again: what was silent stays so, and ends when somebody notices.
  if (how === 'blackhole') proxy.cut();
}

function seconds(millis: number): string {
  return `${(millis / 1_000).toFixed(1)} s`;
}
