/** Settings that must not change after the first start (contract: identity.include-day-boundary, partition count). */
import { statement, type Queryable } from './statement.ts';
import { toTimestamp } from './time.ts';

const FIX = statement(
  'fixedSetting.fix',
  // Primary key.
  `insert into fixed_setting (name, value, fixed_at) values ($1, $2, $3) on conflict (name) do nothing`,
);
const SELECT = statement('fixedSetting.select', `select value from fixed_setting where name = $1`);

/** Stores a value at the first call and gives the one that is stored. */
export async function fixSetting(tx: Queryable, name: string, value: string, now: number): Promise<string> {
  await tx.query(FIX, [name, value, toTimestamp(now)]);
  return (await tx.query<{ value: string }>(SELECT, [name]))[0]?.value ?? value;
}

/** The stored value; null before the first start. */
export async function selectFixedSetting(db: Queryable, name: string): Promise<string | null> {
  return (await db.query<{ value: string }>(SELECT, [name]))[0]?.value ?? null;
}
