/**
 * Each part unreachable, silent, half-open, cut off and slow while messages flow: the stations concerned pause and
 * say so, the others go on, nobody is charged, and all is made up for alone.
 */
import { describe, expect, it } from 'vitest';
import type { StationName } from '../../src/runtime/station.ts';
import type { LogLine } from '../kit/msgx-process.ts';
import { productionMissing } from '../kit/production-parts.ts';
import {
  mergeSettings,
  startPipeline,
  type Running,
  type Standing,
  type TestPipeline,
} from '../kit/service-pipeline.ts';
import type { TcpProxy } from '../kit/tcp-proxy.ts';
import { until } from '../kit/until.ts';
import { PARTS, behindProxy, type Part } from './behind-proxy.ts';
import { expectClean, expectTold } from './checks.ts';
import { daySteps, playInto } from './simulated.ts';

/** Messages written during one fault. */
const PORTION = 40;
const DEADLINES = { mailbox: { timeout: '2s' }, delivery: { timeout: '2s' } };

interface Fault {
  readonly name: string;
  readonly begin: (proxy: TcpProxy) => void;
  /** Whether the part is away until the proxy is healed. */
  readonly away: boolean;
}

const FAULTS: readonly Fault[] = [
  {
    name: 'unreachable',
    begin: (proxy) => {
      proxy.refuse();
      proxy.cut();
    },
    away: true,
  },
  { name: 'silent', begin: (proxy) => proxy.silence(), away: true },
  { name: 'half-open, the server gone', begin: (proxy) => proxy.halfOpen('server'), away: false },
  { name: 'half-open, our side gone', begin: (proxy) => proxy.halfOpen('client'), away: false },
  { name: 'cut in the middle', begin: (proxy) => proxy.cut(), away: false },
  // Last: a chunk more or less late is in the way of no other fault. A batch of the pump is some 15 round trips.
  { name: 'slow', begin: (proxy) => proxy.delay(150), away: false },
];

/** What an outage of a part means. */
interface Meaning {
  readonly stations: readonly StationName[];
  /** What may notice it as well, where it happens to be at work. */
  readonly besides?: string;
  readonly status: number;
  readonly ready: Readonly<Record<string, string>>;
  /** What the others have done when all that they can do is done. */
  readonly goesOn: (standing: Standing) => boolean;
}

const MAILBOX: Meaning = {
  stations: ['inbox', 'backfill'],
  status: 503,
  ready: { mailbox: 'down', database: 'ok', delivery: 'ok' },
  goesOn: ({ unfinished, undelivered }) => unfinished === 0 && undelivered === 0,
};
const MEANING: Readonly<Record<Part, Meaning>> = {
  'own database': {
    stations: ['inbox', 'pump', 'delivery', 'backfill', 'requests'],
    besides: 'upkeep',
    status: 503,
    ready: { mailbox: 'ok', database: 'down' },
    goesOn: () => true,
  },
  'mailbox in PostgreSQL': MAILBOX,
  'mailbox in MariaDB': MAILBOX,
  Kafka: {
    stations: ['delivery'],
    status: 200,
    ready: { mailbox: 'ok', database: 'ok', delivery: 'degraded' },
    goesOn: ({ unread, unfinished, owed, undelivered }) =>
      unread === 0 && unfinished === 0 && owed === 0 && undelivered > 0,
  },
};

describe.skipIf(productionMissing !== null)('while messages flow', () => {
  it.for(PARTS)(
    'faults of %s pause what depends on it, charge nobody, and pass',
    { timeout: 240_000 },
    async (part, test) => {
      const log: LogLine[] = [];
      const { proxy, options, settings } = await behindProxy(part);
      const pipeline = await startPipeline(test, {
        ...options,
        settings: mergeSettings(DEADLINES, settings),
        onLog: (line) => log.push(JSON.parse(line) as LogLine),
      });
      const steps = daySteps({ count: PORTION * FAULTS.length });
      for (const [index, fault] of FAULTS.entries()) {
        const last = index + 1 === FAULTS.length;
        const portion = steps.slice(index * PORTION, last ? undefined : (index + 1) * PORTION);
        const half = portion.length >> 1;
        const before = log.length;
        const { finished } = await pipeline.standing();
        const playing = playInto(pipeline, portion.slice(0, half), 200);
        await until(`${fault.name}: progress`, async () =>
          (await pipeline.standing()).finished > finished + 3 ? true : null,
        );
        fault.begin(proxy);
        await playing;
        await playInto(pipeline, portion.slice(half));
        if (fault.away) {
          await expectAway(`${part} ${fault.name}`, pipeline, MEANING[part]);
          const paused = log.slice(before).filter(({ msg }) => msg.startsWith('station paused'));
          const concerned = new Set(paused.map(({ station }) => station));
          expect(paused.length, `${fault.name}: one line per change of state`).toBe(concerned.size);
          const { stations, besides } = MEANING[part];
          for (const station of concerned) expect([...stations, besides]).toContain(station);
          proxy.heal();
        }
        await pipeline.drained();
        await until(`${fault.name}: all to run`, () => (allRun(pipeline.running) ? true : null));
        expect((await fetch(`${pipeline.running.url}/readyz`)).status, fault.name).toBe(200);
      }
      proxy.heal();
      expect(
        log
          .filter(({ level }) => level === 'error')
          .filter(({ msg }) => msg !== 'message dead' && !msg.startsWith('message dead')),
      ).toEqual([]);

      const undisturbed = await startPipeline(test);
      await playInto(undisturbed, steps);
      await undisturbed.drained();
      expect(await pipeline.digest()).toEqual(await undisturbed.digest());
      expect(await attempts(pipeline)).toEqual(await attempts(undisturbed));
      await expectClean(pipeline);
      await expectTold(pipeline);
    },
  );
});

/** The stations concerned are in an outage, /readyz tells it, and the others do all that can be done. */
async function expectAway(
  what: string,
  pipeline: TestPipeline & { readonly running: Running },
  { stations, status, ready, goesOn }: Meaning,
): Promise<void> {
  const { host, url } = pipeline.running;
  const states = () => host.service.stations();
  await until(
    `${what}: outage of ${stations.join(', ')}`,
    async () => {
      // A mailbox that nobody owes a mark is nothing that backfill could miss.
      const { owed } = await pipeline.standing();
      const isAsTold = ({ name, state }: { readonly name: StationName; readonly state: string }) =>
        (state === 'outage') === stations.includes(name) ||
        (name === 'backfill' && owed === 0 && state === 'running');
      return states().every(isAsTold) ? true : null;
    },
    { standing: states },
  );
  let standing: Standing | null = null;
  await until(
    `${what}: the others to go on`,
    async () => {
      standing = await pipeline.standing();
      return goesOn(standing) ? true : null;
    },
    { standing: () => standing },
  );
  const response = await fetch(`${url}/readyz`);
  expect(response.status, what).toBe(status);
  expect(await response.json(), what).toMatchObject(ready);
  expect((await fetch(`${url}/healthz`)).status, what).toBe(200);
}

function allRun({ host }: Running): boolean {
  return host.service.stations().every(({ state }) => state === 'running');
}

/** Attempts charged to messages and to events. */
async function attempts(pipeline: TestPipeline): Promise<unknown> {
  return {
    messages: await pipeline.rows('select msg_id, attempts from proc_state where attempts > 0 order by 1'),
    events: await pipeline.rows('select event_id from msg_event where attempts > 0'),
    dead: await pipeline.rows(`select msg_id, error_class from proc_state where state = 'DEAD' order by 1`),
  };
}
