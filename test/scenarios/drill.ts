/**
 * The cases of the drill in docs/runbook.md and how each is played on a pipeline from PostgreSQL to Kafka; the texts of the
 * runbook as patterns.
 */
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { expect } from 'vitest';
import { ScriptedUpstream } from '../../src/simulator/upstream.ts';
import { codeIn, tableUnder } from '../deploy/runbook.ts';
import { kafkaMissing } from '../kit/kafka.ts';
import { gate, schedule, xml } from '../kit/messages.ts';
import { postgresMissing } from '../kit/postgres.ts';
import { testKafka } from '../kit/production-parts.ts';
import { scheduleRecord } from '../kit/requests.ts';
import { mergeSettings, type PipelineOptions, type TestPipeline } from '../kit/service-pipeline.ts';
import type { Register, TcpProxy } from '../kit/tcp-proxy.ts';
import { until } from '../kit/until.ts';

export const runbook = readFileSync(new URL('../../docs/runbook.md', import.meta.url), 'utf8');
/** Why it cannot be played, or null. */
export const drillMissing: string | null = postgresMissing ?? kafkaMissing;
/** Rows of the drill: case, how it is played, what is shown, the alarm, what to do, what is shown afterwards. */
export const ROWS = tableUnder(runbook, 'Drill');
export const CASES = [
  'poison at the head',
  'dead schedule',
  'Kafka down',
  'hole',
  'abandoned mark',
  'upstream silent',
] as const;
export type Case = (typeof CASES)[number];

/** The day for which the upstream is asked. */
export const DAY = '2026-03-15';
const FLID = '700001';
/** Nothing is tried again, and no backlog passes, before somebody has looked. */
const SLOW = { pipeline: { retry: { 'capability-backoff': ['5m', '5m', '5m', '5m'] } } };

/** A text of the runbook as a pattern: words in capitals stand for what differs. */
export function pattern(text: string): RegExp {
  const escaped = text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(
    escaped
      .replaceAll(/\bN\b/g, '[1-9]\\d*')
      .replaceAll(/\bTIME\b/g, '\\S+')
      .replaceAll(/\bTEXT\b/g, '\\S+')
      .replaceAll(/\bDAY\b/g, DAY),
  );
}

/**
 * The parts that a drill is played on: the brokers stand behind the proxy.
 * @param register where the proxy's end is registered; by default the test
 */
export async function drillParts(
  register?: Register,
): Promise<{ readonly proxy: TcpProxy; readonly options: PipelineOptions }> {
  const kafka = await testKafka();
  const { proxy, broker } = await kafka.proxy(register);
  const delivery = { timeout: '2s', kafka: { brokers: [broker] } };
  return { proxy, options: { kafka, settings: mergeSettings(SLOW, { delivery }) } };
}

export interface Played {
  /** The message that the actions name. */
  readonly id: bigint | null;
  /** What is done beside the action of an operator. */
  readonly mend?: () => Promise<unknown>;
}

export interface Drill {
  /** Brings the pipeline into the state that every case begins with. */
  begin(): Promise<void>;
  play(name: Case): Promise<Played>;
  /** Resolves when everything that can be told and marked is. */
  end(): Promise<void>;
}

/** @param rest lets the backfill rest and go on, as an operator does; resolves when the service has done it */
export function drillOn(
  pipeline: TestPipeline,
  proxy: TcpProxy,
  rest: (change: 'pause' | 'resume') => Promise<void>,
): Drill {
  const { mailbox, mailboxSide } = pipeline;
  const upstream = new ScriptedUpstream({
    ...{ mailbox, clock: { now: () => Date.now() }, timeZone: 'Asia/Shanghai', after: 0n },
    behave: () => ({ answer: 'once', delayMs: 0, echo: true }),
    schedule: (day) => [scheduleRecord('7111', day)],
    reference: () => [],
  });
  const answered = () =>
    until('the upstream to answer', async () => ((await upstream.poll()) > 0 ? true : null));
  const processed = async (id: bigint) =>
    until(`message ${String(id)} to be processed`, async () =>
      (await pipeline.rows("select 1 from proc_state where msg_id = $1 and state = 'SUCCEEDED'", [id]))
        .length > 0
        ? true
        : null,
    );
  const plays: Record<Case, () => Promise<Played>> = {
    'poison at the head': async () => {
      const id = await mailbox.insert(xml('WXYZ', 'TEST', '<WXYZ/>'));
      await mailbox.insert(gate(FLID, 'G2'));
      return { id };
    },
    'dead schedule': async () => {
      await mailbox.insert(schedule('700002').replace('<RECS>1</RECS>', '<RECS>2</RECS>'));
      return { id: null, mend: answered };
    },
    'Kafka down': async () => {
      proxy.refuse();
      proxy.cut();
      await mailbox.insert(gate(FLID, 'G3'));
      return { id: null, mend: async () => proxy.heal() };
    },
    hole: async () => {
      const writer = new pg.Client({ connectionString: mailboxSide.url });
      writer.on('error', () => undefined);
      await writer.connect();
      await writer.query('begin');
      await writer.query("insert into cminmsgs (cminmsgs_clob_msg) values ('<MSG/>')");
      await mailbox.insert(gate(FLID, 'G4'));
      const [statement = ''] = codeIn(ROWS[CASES.indexOf('hole')]?.[4] ?? '');
      return { id: null, mend: () => endWriter(mailboxSide.url, statement) };
    },
    'abandoned mark': async () => {
      await rest('pause');
      const id = await mailbox.insert(gate(FLID, 'G5'));
      await processed(id);
      await mailboxSide.remove([id]);
      await rest('resume');
      return { id };
    },
    'upstream silent': async () => ({ id: null, mend: answered }),
  };
  return {
    begin: async () => {
      await processed(await mailbox.insert(schedule(FLID)));
      await pipeline.drained();
    },
    play: (name) => plays[name](),
    // The row that its owner deleted is missing in the mailbox, so `drained` cannot count.
    end: async () => {
      await until('everything to be told and marked', async () => {
        const { unfinished, undelivered, owed } = await pipeline.standing();
        return unfinished === 0 && undelivered === 0 && owed === 0 ? true : null;
      });
    },
  };
}

/** As the mailbox's owner does it: looks for the session with the runbook's own question, and ends it. */
async function endWriter(url: string, statement: string): Promise<void> {
  const [, question = ''] = /```sql\n-- on the mailbox, by its owner\n(.*?)```/s.exec(runbook) ?? [];
  const owner = new pg.Client({ connectionString: url });
  await owner.connect();
  try {
    const { rows } = await owner.query<{ pid: number; state: string; left: string }>(question);
    const writers = rows.filter(({ state, left }) => state === 'idle in transaction' && /insert/.test(left));
    expect(writers).toHaveLength(1);
    await owner.query(statement.replace('PID', String(writers[0]?.pid)));
  } finally {
    await owner.end();
  }
}
