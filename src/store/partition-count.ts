/** Numbers of partitions of the topics as they were at the first start, each a fixed setting of its own. */
import { statement, type Queryable } from './statement.ts';
import { fixSetting } from './fixed-setting.ts';

const PREFIX = 'kafka.partitions:';

const SELECT = statement(
  'partitionCount.select',
  // Primary key, whole: the table has a handful of rows.
  `select substr(name, length($1) + 1) as topic, value::integer as partitions from fixed_setting
   where starts_with(name, $1)`,
);

/** The stored numbers, by topic; a topic never used has none. */
export async function selectPartitionCounts(db: Queryable): Promise<ReadonlyMap<string, number>> {
  const rows = await db.query<{ topic: string; partitions: number }>(SELECT, [PREFIX]);
  return new Map(rows.map(({ topic, partitions }) => [topic, partitions]));
}

/** Stores the number of a topic at the first call and gives the one that is stored. */
export async function fixPartitionCount(
  tx: Queryable,
  topic: string,
  partitions: number,
  now: number,
): Promise<number> {
  return Number(await fixSetting(tx, PREFIX + topic, String(partitions), now));
}

const REPLACE = statement(
  'partitionCount.replace',
  // Primary key; the old number is the expected state.
  `update fixed_setting set value = $3::integer::text where name = $1 and value = $2::integer::text returning name`,
);

/** Puts another number in the place of the stored one; false where that is not `from` any more. */
export async function replacePartitionCount(
  tx: Queryable,
  topic: string,
  from: number,
  to: number,
): Promise<boolean> {
  return (await tx.query(REPLACE, [PREFIX + topic, from, to])).length > 0;
}
