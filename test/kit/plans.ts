/** Plans of the statements that a function of the store runs, as they are once prepared and used often. */
import type pg from 'pg';
import { DRIVER_TYPES } from '../../src/runtime/postgres.ts';
import type { Queryable, Statement } from '../../src/store/statement.ts';

export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Index Name'?: string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** One plan's nodes, the topmost first. */
export type Plan = readonly PlanNode[];

function literal(client: pg.Client, value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return client.escapeLiteral(value);
  if (typeof value === 'bigint' || typeof value === 'number' || typeof value === 'boolean')
    return `'${String(value)}'`;
  if (!Array.isArray(value)) throw new TypeError('a parameter of another kind');
  const items = value.map((item: unknown) => `"${String(item).replaceAll(/["\\]/g, '\\$&')}"`);
  return client.escapeLiteral(`{${items.join(',')}}`);
}

/**
 * The plan of each statement by its name. Each is explained with its work done and undone, then run for the function to go
 * on; all of it is rolled back.
 */
export async function plansOf(
  client: pg.Client,
  run: (db: Queryable) => Promise<unknown>,
  { generic = false }: { readonly generic?: boolean } = {},
): Promise<ReadonlyMap<string, Plan>> {
  const plans = new Map<string, Plan>();
  const explaining: Queryable = {
    query: async <T>({ name, text }: Statement, values: readonly unknown[] = []): Promise<T[]> => {
      const parameters = values.map((value) => literal(client, value));
      const execute = `execute explained${parameters.length === 0 ? '' : ` (${parameters.join(', ')})`}`;
      await client.query('savepoint explaining');
      await client.query(`prepare explained as ${text}`);
      // Five times PostgreSQL plans with the values; then it has what it needs to choose between these plans and a generic one.
      for (let time = 0; time < 5; time += 1) await client.query(`explain ${execute}`);
      const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
        `explain (analyze, format json) ${execute}`,
      );
      await client.query('rollback to savepoint explaining');
      const answer = await client.query({ text: execute, types: DRIVER_TYPES });
      await client.query('deallocate explained');
      const plan = rows[0]?.['QUERY PLAN'][0].Plan;
      plans.set(name, plan === undefined ? [] : flatten(plan));
      return answer.rows as T[];
    },
  };
  await client.query('begin');
  if (generic) await client.query('set local plan_cache_mode = force_generic_plan');
  try {
    await run(explaining);
  } finally {
    await client.query('rollback');
  }
  return plans;
}

function flatten(node: PlanNode): Plan {
  return [node, ...(node.Plans ?? []).flatMap(flatten)];
}

/** Names of the indexes that a plan reads, in their order. */
export function indexes(nodes: Plan): readonly string[] {
  return [...new Set(nodes.flatMap((node) => node['Index Name'] ?? []))].sort();
}

/** Kinds of its nodes. */
export function kinds(nodes: Plan): ReadonlySet<string> {
  return new Set(nodes.map((node) => node['Node Type']));
}

/** Tables that it reads from end to end. */
export function scanned(nodes: Plan): readonly string[] {
  return nodes
    .filter((node) => node['Node Type'] === 'Seq Scan')
    .map((node) => node['Relation Name'] ?? '')
    .sort();
}

/** Rows of a table that it touched in all, kept or not. */
export function touched(nodes: Plan, relation: string): number {
  return nodes
    .filter((node) => node['Relation Name'] === relation)
    .reduce(
      (sum, node) =>
        sum + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
      0,
    );
}
