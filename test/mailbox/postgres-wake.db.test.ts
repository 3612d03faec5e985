/** Inserts that a mailbox in PostgreSQL announces: a hint that a round is worth its while, and no more than that. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { startHost } from '../../src/cli/host.ts';
import { createLogger } from '../../src/runtime/logger.ts';
import { openResources } from '../../src/service/resources.ts';
import { createTestMailbox } from '../kit/mailbox.ts';
import { createTestDatabase, postgresMissing } from '../kit/postgres.ts';
import { preparePipeline } from '../kit/service-pipeline.ts';
import { until } from '../kit/until.ts';

/** What a wake-up would have come within, where none is expected, ms. */
const QUIET_MS = 300;

/** A mailbox whose announcements are counted; a connection listens from its next use on. */
async function listening() {
  const { url } = await createTestDatabase({ blank: true });
  const fixture = await createTestMailbox(url);
  const counted = { told: 0 };
  fixture.mailbox.onInsert?.(() => {
    counted.told += 1;
  });
  await fixture.mailbox.bounds();
  return { ...fixture, counted };
}

describe.skipIf(postgresMissing !== null)('announcements of a mailbox in PostgreSQL', () => {
  it('tell of a row once it is committed', async () => {
    const { counted, ...box } = await listening();
    const owner = await box.begin();
    await owner.insertAt(5n, '<x/>');
    await sleep(QUIET_MS);
    expect(counted.told, 'while the transaction is open').toBe(0);
    await owner.commit();
    await until('an announcement', () => Promise.resolve(counted.told > 0 ? true : null));
  });

  it('do not tell of a row that was rolled back, nor of a mark', async () => {
    const { counted, ...box } = await listening();
    const owner = await box.begin();
    await owner.insertAt(5n, '<x/>');
    await owner.rollback();
    await sleep(QUIET_MS);
    expect(counted.told).toBe(0);
    await box.insertAt(6n, '<x/>');
    await until('an announcement', () => Promise.resolve(counted.told > 0 ? true : null));
    await sleep(QUIET_MS);
    const before = counted.told;
    await box.mailbox.mark([6n]);
    await sleep(QUIET_MS);
    expect(counted.told).toBe(before);
  });

  it('are heard again by the connection that takes the place of a lost one', async () => {
    const { counted, ...box } = await listening();
    const { rowCount } = await box.client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name = 'msgx mailbox'`,
    );
    expect(rowCount).toBeGreaterThan(0);
    await sleep(QUIET_MS);
    await box.insertAt(5n, '<x/>');
    await sleep(QUIET_MS);
    expect(counted.told, 'nobody listens').toBe(0);
    expect((await box.mailbox.bounds())?.max).toBe(5n);
    await box.insertAt(6n, '<x/>');
    await until('an announcement', () => Promise.resolve(counted.told > 0 ? true : null));
  });

  it('are told to nobody who wants them no longer', async () => {
    const { counted, ...box } = await listening();
    box.mailbox.onInsert?.(null);
    await box.insertAt(5n, '<x/>');
    await sleep(QUIET_MS);
    expect(counted.told).toBe(0);
  });

  it('bring a message all the way long before the poll interval is over', async (test) => {
    const pipeline = await preparePipeline(test);
    const { config } = pipeline;
    const resources = await openResources({
      ...config,
      pipeline: { ...config.pipeline, pollIntervalMs: 3_600_000, lateScanIntervalMs: 3_600_000 },
    });
    const host = await startHost(resources, createLogger({ level: 'silent', format: 'json' }), {});
    test.onTestFinished(async () => {
      await host.stop();
      await resources.close();
    });
    // The first round reads at once; behind it only an announcement can wake the station.
    await until('the first round', async () => {
      const [row] = await pipeline.rows<{ polled: boolean }>(
        'select polled_at is not null as polled from inbox_cursor',
      );
      return row?.polled === true ? true : null;
    });
    await sleep(QUIET_MS);
    for (let sent = 1; sent <= 5; sent++) {
      await pipeline.mailbox.insert('<not-a-message/>');
      await until('the message to end', async () =>
        (await pipeline.standing()).finished === sent ? true : null,
      );
    }
  });
});
