/**
 * What the archives cost the messages that flow meanwhile: old messages and flights are put into the tables, live
 * traffic runs, and the upkeep jobs are let in for one window and kept out for the next, until they are through.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { AnchoredClock } from '../runtime/clock.ts';
import { SILENT } from '../runtime/log.ts';
import { createMetrics } from '../runtime/metrics.ts';
import { openResources } from '../service/resources.ts';
import { startEmbedded } from '../store/embedded.ts';
import { migrate } from '../store/migrate.ts';
import { JOBS } from '../upkeep/jobs/job.ts';
import { Upkeep } from '../upkeep/jobs/upkeep.ts';
import { brokenIn } from './audit.ts';
import { FLIGHTS } from './inputs.ts';
import { LiveTraffic } from './live.ts';
import { schedule } from './messages.ts';
import { configOf } from './task.ts';
import { Windows, type WindowsOptions, type WindowsTold } from './windows.ts';

export interface ArchiveInputs {
  readonly messages: number;
  readonly flights: number;
  /** Live messages per second. */
  readonly rate: number;
  readonly windowSeconds: number;
}

export interface ArchiveReport extends WindowsTold {
  readonly inputs: ArchiveInputs;
  readonly archived: { readonly messages: number; readonly flights: number; readonly tombstonesSent: number };
  readonly deleted: { readonly textsLeft: number; readonly eventsLeft: number };
  /** Time in which the jobs were let in, s. */
  readonly upkeepSeconds: number;
  /** What `verify` found broken afterwards. */
  readonly broken: readonly string[];
}

const DAY_MS = 86_400_000;
/** The pipeline's own jobs must find nothing to do; those of the windows everything. */
const RETENTION = {
  flightsMs: 30 * DAY_MS,
  procStateMs: 90 * DAY_MS,
  rawMs: 30 * DAY_MS,
  eventsMs: 7 * DAY_MS,
  snapLogMs: 30 * DAY_MS,
};
const AGE_DAYS = 200;
/** Messages at either end of a window that belong to neither kind, ms. */
const EDGE_MS = 500;
/** Windows of each kind at least: one of each would be chance. */
const WINDOWS_LEAST = 3;

/** Runs it on an embedded PostgreSQL of its own. */
export async function archiveUnderTraffic(
  inputs: ArchiveInputs,
  onProgress: (step: string) => void,
): Promise<ArchiveReport> {
  const directory = await mkdtemp(join(tmpdir(), 'msgx-archive-'));
  const server = await startEmbedded({ directory });
  try {
    await migrate(server.url, 'msgx');
    const config = configOf(
      { url: server.url, journal: join(directory, 'journal'), commitBatch: 500 },
      Object.fromEntries(
        ['flights', 'proc-state', 'raw', 'snap-log'].map((name) => [name, { retention: '3650d' }]),
      ),
    );
    const resources = await openResources(config);
    const client = new pg.Client({ connectionString: server.url, options: '-c search_path=msgx,public' });
    await client.connect();
    try {
      onProgress(`writing ${inputs.messages} old messages and ${inputs.flights} old flights`);
      await resources.mailbox.init();
      await fillWithOld(client, inputs);
      await resources.mailbox.insert(schedule(FLIGHTS, 1));
      const setup = { ...resources, clock: new AnchoredClock(Date.now()) };
      const jobs = new Upkeep({
        ...{ database: resources.upkeepDatabase, fence: { epoch: 0n }, clock: setup.clock, log: SILENT },
        ...{
          metrics: createMetrics(),
          timeZone: config.timeZone,
          operationDayCutoff: config.operationDayCutoff,
        },
        ...{ publication: { vipPersons: false }, retention: RETENTION },
      });
      const work = letIn(jobs, client);
      const windows = new Windows({
        ...{ ...work, least: WINDOWS_LEAST, edgeMs: { with: EDGE_MS, without: EDGE_MS }, onProgress },
        full: ({ from, to }) => to - from >= inputs.windowSeconds * 1_000,
      });
      const passages = await new LiveTraffic(setup).run(1, inputs.rate, () => windows.over());
      const failed = windows.failed();
      if (failed !== undefined) throw failed;
      onProgress('verifying');
      const broken = await brokenIn(resources);
      return {
        inputs,
        ...(await countLeft(client)),
        upkeepSeconds: windows.seconds,
        ...windows.told(passages),
        broken,
      };
    } finally {
      await client.end();
      await resources.close();
    }
  } finally {
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

/** The jobs as the loop of the service runs them, as long as a window lasts. */
function letIn(jobs: Upkeep, client: pg.Client): Pick<WindowsOptions, 'work' | 'through'> {
  let [first, through] = [true, false];
  return {
    through: () => through,
    work: async (open) => {
      // The first rounds of the pipeline's own jobs have found nothing; these must not wait an hour for it.
      if (first) await client.query('delete from upkeep_job');
      first = false;
      while (!through && open()) {
        const round = await jobs.round();
        const ended = await client.query('select from upkeep_job where ended_at is not null');
        through = ended.rowCount === JOBS.length;
        if (round.next === 'wait' && round.until !== null && !through)
          await sleep(Math.min(5_000, Math.max(0, round.until - Date.now())));
      }
    },
  };
}

/**
 * Old messages that ended, with their texts and events, and old flights with the versions that those events told; the
 * mailbox goes on behind their IDs, as if its owner had cleaned it.
 */
async function fillWithOld(client: pg.Client, { messages, flights }: ArchiveInputs): Promise<void> {
  const old = `now() - interval '${AGE_DAYS} days'`;
  const state = JSON.stringify({
    flightNumber: 'XX1',
    movement: 'D',
    scheduledTime: '2026-03-14T08:05:00+08:00',
  });
  for (const [sql, values] of [
    [
      `insert into proc_state (msg_id, type, styp, identity_key, state, received_at, enqueued_at, terminal_at,
         terminal_seq, backfill_at)
       select n, 'FLOP', 'GTDT', 'AODB|FLOP|GTDT|' || n || '|2020-01-01', 'SUCCEEDED', ${old}, ${old}, ${old}, n, ${old}
       from generate_series(1, $1::bigint) n`,
      [messages],
    ],
    [
      `insert into message_identity (identity_key, msg_id, content_hash)
       select 'AODB|FLOP|GTDT|' || n || '|2020-01-01', n, sha256(n::text::bytea) from generate_series(1, $1::bigint) n`,
      [messages],
    ],
    [
      `insert into raw_message (msg_id, body, bytes, sha256, stored_at)
       select n, convert_to(repeat(md5(n::text), 9), 'UTF8'), 520, sha256(n::text::bytea), ${old}
       from generate_series(1, $1::bigint) n`,
      [messages],
    ],
    [
      `insert into msg_event (target, partition_key, event_type, state_version, state, sent_at, msg_id, created_at, body)
       select 'KAFKA:msg', 'old' || n % $2::bigint, 'UPSERT', 1 + n / $2::bigint, 'SENT', ${old}, n, ${old},
         json_build_object('text', repeat(md5(n::text), 20))
       from generate_series(1, $1::bigint) n`,
      [messages, flights],
    ],
    [
      `insert into flight_schd (flid, version, operation_day, deleted, state, stamps, last_msg_id, updated_at)
       select 'old' || n, $2::bigint / $1::bigint + 1, (${old})::date, false, $3::jsonb, '{}', n + 1, ${old}
       from generate_series(0, $1::bigint - 1) n`,
      [flights, messages, state],
    ],
    [
      `insert into flight_message (flid, msg_id, state_version, changed, superseded)
       select 'old' || n, n + 1, $2::bigint / $1::bigint + 1, '{}', '{}' from generate_series(0, $1::bigint - 1) n`,
      [flights, messages],
    ],
    [`select setval('terminal_seq', $1::bigint)`, [messages]],
    [`select setval(pg_get_serial_sequence('cminmsgs', 'cminmsgs_id'), $1::bigint)`, [messages]],
    [
      `update inbox_cursor set watermark = $1::bigint, seed = $1::bigint, scanned_watermark = $1::bigint, seeded_at = now()`,
      [messages],
    ],
    ['vacuum analyze', []],
  ] as const)
    await client.query(sql, [...values]);
}

async function countLeft(client: pg.Client): Promise<Pick<ArchiveReport, 'archived' | 'deleted'>> {
  const count = async (what: string) =>
    Number((await client.query<{ n: string }>(`select count(*) as n from ${what}`)).rows[0]?.n);
  return {
    archived: {
      messages: await count('proc_state_hst'),
      flights: await count('flight_schd_hst'),
      tombstonesSent: await count(
        `msg_event where target = 'KAFKA:msg' and event_type = 'TOMBSTONE' and state = 'SENT'`,
      ),
    },
    deleted: {
      textsLeft: await count(`raw_message where stored_at < now() - interval '100 days'`),
      eventsLeft: await count(`msg_event where created_at < now() - interval '100 days'`),
    },
  };
}
