/**
 * `msgx run` is killed at every step between a request's or a report's registration and SENT, our SEQN having just
 * wrapped onto that of old rows. Whoever goes on leaves exactly one row in COUTMSGS. The same where the insert commits
 * after our timeout, in a session whose client is gone.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerRequest } from '../../src/store/req-track.ts';
import { mariadbMissing } from '../kit/mariadb.ts';
import { startMsgx } from '../kit/msgx-process.ts';
import { postgresMissing } from '../kit/postgres.ts';
import type { TestPipeline } from '../kit/service-pipeline.ts';
import { startProxy, targetOf, through } from '../kit/tcp-proxy.ts';
import { until } from '../kit/until.ts';
import { diedAt, freeLease, startArmed } from './kill-run.ts';
import { refuseInserts } from './outbound-faults.ts';
import { KILL_CASES } from './request-kill-cases.ts';
import { expectEnd, OUTAGE, prepareSending, ZONE, type Kind } from './request-sending.ts';

const MAILBOXES: readonly Kind[] = ['MariaDB', 'PostgreSQL'];

/** Of the cases, those that PostgreSQL has, too: its own part is the transaction around the insert. */
const ALSO_POSTGRES = ['outbound.inserted', 'outbound.committed', 'outbound.noted outbound.looked'];

const rows: (readonly string[])[] = [['mailbox', 'sent', 'killed at', 'expected', 'found']];

describe.skipIf(postgresMissing !== null || mariadbMissing !== null)('exactly one row in COUTMSGS', () => {
  let compiled = '';

  beforeAll(async () => {
    compiled = await mkdtemp(join(tmpdir(), 'msgx-compiled-'));
  });

  afterAll(async () => {
    await rm(compiled, { recursive: true, force: true });
    const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
    console.log(rows.map((row) => row.map((cell, at) => cell.padEnd(widths[at]!)).join('  ')).join('\n'));
  });

  const cases = MAILBOXES.flatMap((kind) =>
    KILL_CASES.filter(({ points }) => kind === 'MariaDB' || ALSO_POSTGRES.includes(points.join(' '))).map(
      (each) => ({ ...each, kind, at: [...each.points, each.meanwhile ?? ''].join(' ').trim() }),
    ),
  );

  it.concurrent.for(cases)(
    'over $kind, of a $what killed at $at',
    { timeout: 120_000 },
    async ({ kind, at, ...each }, test) => {
      const pipeline = await prepareSending(test, kind, each);
      const accept = each.refused === true ? await refuseInserts(pipeline, kind) : null;
      for (const [index, name] of each.points.entries()) {
        if (index > 0 && each.meanwhile === 'replaced') await replace(pipeline);
        const point = { name, passing: 1 };
        const died = await diedAt(await startArmed(test, pipeline, { ...point, compiled }), point);
        expect(died, `${name} reached`).toBe(true);
        await freeLease(pipeline);
      }
      await accept?.();
      if (each.meanwhile === 'answered') await answer(pipeline);
      await startMsgx(test, pipeline, { env: { NODE_COMPILE_CACHE: compiled } });
      rows.push([kind, each.what, at, ...(await expectEnd(pipeline, each))]);
    },
  );

  for (const kind of MAILBOXES) {
    for (const what of ['request', 'report'] as const) {
      it(`over ${kind}, of a ${what} whose insert commits after our timeout, its client gone`, async (test) => {
        const pipeline = await prepareSending(test, kind, { what });
        const proxy = await startProxy(targetOf(pipeline.mailboxSide.url));
        const held = proxy.hold(['insert into', 'commit']);
        const former = await startMsgx(test, pipeline, {
          settings: { mailbox: { url: through(pipeline.mailboxSide.url, proxy) } },
          env: { NODE_COMPILE_CACHE: compiled },
        });
        const release = await held;
        former.signal('SIGKILL');
        await former.ended;
        await freeLease(pipeline);
        // It finds the lock held by a session that nobody waits for, and does not send meanwhile.
        const next = await startMsgx(test, pipeline, { env: { NODE_COMPILE_CACHE: compiled } });
        await until('the next one to wait for the lock in vain', () =>
          next.log.some(({ station, msg }) => station === 'requests' && msg === OUTAGE) ? true : null,
        );
        release();
        rows.push([kind, what, 'its COMMIT, done later', ...(await expectEnd(pipeline, { what }))]);
      });
    }
  }
});

/** Somebody asks for the same again. */
async function replace(pipeline: TestPipeline): Promise<void> {
  const [key] = await pipeline.rows<{ rtype: string; day: string; sender: string }>(
    'select rtype, operation_day::text as day, sender from req_track',
  );
  await pipeline.database.transaction((tx) =>
    registerRequest(
      tx,
      { rtype: key!.rtype, operationDay: key!.day, sender: key!.sender },
      { by: 'test', now: Date.now() },
    ),
  );
}

/** The upstream answers while nobody runs here. */
async function answer(pipeline: TestPipeline): Promise<void> {
  const [asked] = await pipeline.rows<{ seqn: number; time: string; flight: string }>(
    `select seqn, to_char(now() at time zone '${ZONE}', 'YYYYMMDDHH24MISS') as time,
       to_char(operation_day, 'DDMONYY') || '1200' as flight from req_track`,
  );
  await pipeline.mailboxSide.insertAt(
    1n,
    `<MSG><META><SNDR>AODB</SNDR><SEQN>5</SEQN><DTTM>${asked!.time}</DTTM><TYPE>SCHD</TYPE><STYP>RESP</STYP>` +
      `<RSEQ>${String(asked!.seqn)}</RSEQ></META><SCHD><RECS>1</RECS><FLTR><FLID>700001</FLID><FLNO>XX1</FLNO>` +
      `<MVIN>D</MVIN><SODT>${asked!.flight}</SODT></FLTR></SCHD></MSG>`,
  );
}
