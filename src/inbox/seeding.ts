/**
 * Where the first start begins (seed §4.3, contract `pipeline.cutover-watermark`): never chosen silently
 * where it matters, and never chosen twice.
 */
import { failpoint } from '#failpoint';
import type { Clock } from '../domain/clock.ts';
import type { IdRange, Mailbox } from '../mailbox/port.ts';
import type { Log } from '../runtime/log.ts';
import type { Database } from '../store/database.ts';
import type { Fence } from '../store/transaction.ts';
import { hasMessages, readCursor, seedCursor } from '../store/inbox-cursor.ts';
import { insertHoles } from '../store/inbox-hole.ts';
import { InboxFault } from './fault.ts';

/** `min` (all that is there), `zero`, `max` (only what comes), or W itself. */
export type CutoverWatermark = 'min' | 'zero' | 'max' | bigint;

export type Seeding =
  /** Seeded or in use before: the setting was ignored. */
  | { readonly kind: 'existing'; readonly watermark: bigint }
  | { readonly kind: 'seeded'; readonly watermark: bigint }
  /** Somebody has to choose; the message says between what. */
  | { readonly kind: 'refused'; readonly message: string };

export interface SeedingDependencies {
  readonly database: Database;
  readonly mailbox: Mailbox;
  readonly clock: Clock;
  readonly fence: () => Fence | null;
  readonly logger: Log;
  readonly setting: CutoverWatermark | null;
}

/**
 * Seeds the cursor where it never was, before the poller's first round. Throws Outage where the mailbox or
 * our database is not available: try again, nothing was decided.
 */
export async function seedInbox(dependencies: SeedingDependencies): Promise<Seeding> {
  const { database, mailbox, clock, fence, logger, setting } = dependencies;
  const cursor = await readCursor(database);
  if (cursor.seededAt !== null || cursor.watermark > 0n || (await hasMessages(database))) {
    if (setting !== null) {
      logger.info(
        { watermark: cursor.watermark, setting },
        'pipeline.cutover-watermark is ignored: this inbox is in use and never seeded again',
      );
    }
    return { kind: 'existing', watermark: cursor.watermark };
  }
  const bounds = await mailbox.bounds();
  const watermark = choose(setting, bounds);
  if (watermark === null) return { kind: 'refused', message: refusal(bounds?.min ?? 0n, bounds?.max ?? 0n) };
  const past: readonly IdRange[] =
    setting === 'max' && bounds !== null ? await mailbox.gapsUpTo(bounds.max) : [];
  const now = clock.now();
  failpoint('seeding.chosen');
  const seeded = await database.transaction(
    async (tx) => {
      if (!(await seedCursor(tx, watermark, now))) return false;
      await insertHoles(
        tx,
        past.map((range) => ({
          ...range,
          firstSeenAt: now,
          writers: null,
          releasedAt: now,
          foundAt: null,
          past: true,
        })),
      );
      return true;
    },
    { fence: fence() },
  );
  failpoint('seeding.committed');
  if (!seeded) return { kind: 'existing', watermark: (await readCursor(database)).watermark };
  logger.info({ watermark, setting, pastHoles: past.length }, 'inbox seeded');
  return { kind: 'seeded', watermark };
}

/** Like {@link seedInbox}; throws InboxFault where somebody has to choose. */
export async function seedInboxOrStop(dependencies: SeedingDependencies): Promise<bigint> {
  const seeding = await seedInbox(dependencies);
  if (seeding.kind === 'refused') throw new InboxFault('seeding-refused', seeding.message);
  return seeding.watermark;
}

function choose(
  setting: CutoverWatermark | null,
  bounds: { readonly min: bigint; readonly max: bigint } | null,
): bigint | null {
  if (typeof setting === 'bigint') return setting;
  if (bounds === null) return 0n;
  switch (setting) {
    case 'min':
      return bounds.min - 1n;
    case 'zero':
      return 0n;
    case 'max':
      return bounds.max;
    case null:
      return bounds.min > 1n ? null : 0n;
  }
}

function refusal(min: bigint, max: bigint): string {
  return (
    `the mailbox holds IDs ${min.toString()} to ${max.toString()} and this inbox has never read it: set ` +
    `msgx.pipeline.cutover-watermark to min (read all that is there), max (only what comes from now on), ` +
    `zero (from 0: the IDs before ${min.toString()} are waited for as a hole) or the last ID not to be read`
  );
}
