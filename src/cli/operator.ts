/** What commands of operators share: who asks and why, and the IDs they name. */
import { userInfo } from 'node:os';
import { InvalidArgumentError } from 'commander';
import type { Operator } from '../actions/outcome.ts';
import { MAX_ID } from '../domain/ids.ts';
import type { Database } from '../store/database.ts';
import { ExpectedFailure, type CommonOptions } from './shell.ts';

/** Options of a command that changes something. */
export interface ChangeOptions extends CommonOptions {
  readonly reason?: string;
  readonly dryRun?: true;
}

/** What stands in the audit of the commands that may be given without a reason (contract, "CLI"): it says that none was. */
export const UNREASONED = { reason: 'none given' } as const;

/**
 * The operator of this command. Throws ExpectedFailure with exit code 2 where a change comes without a reason; a dry run
 * needs none.
 */
export async function operatorOf(
  database: Database,
  { reason: given, dryRun }: ChangeOptions,
): Promise<Operator> {
  const { databaseNow } = await import('../store/lease.ts');
  const reason = await reasonOf(given, dryRun === true);
  return { who: `cli:${userInfo().username}`, reason, now: await databaseNow(database) };
}

/** The reason as it is kept; checked before anything is opened. Throws like {@link operatorOf}. */
export async function reasonOf(given: string | undefined, mayLack: boolean): Promise<string> {
  const { reasonText } = await import('../actions/outcome.ts');
  const reason = reasonText(given ?? '');
  if (reason === null && !mayLack)
    throw new ExpectedFailure('a change needs --reason TEXT, for the audit', 2);
  return reason ?? '';
}

/** An ID as an option or argument gives it. */
export function id(text: string): bigint {
  const parsed = /^\d{1,19}$/.test(text) ? BigInt(text) : -1n;
  if (parsed < 0n || parsed > MAX_ID) throw new InvalidArgumentError('an ID, a whole number');
  return parsed;
}

/** The same for an argument or option that takes several. */
export function ids(text: string, before: readonly bigint[] | undefined): readonly bigint[] {
  return [...(before ?? []), id(text)];
}

/** How many to list. */
export function limit(text: string): number {
  if (!/^\d{1,6}$/.test(text) || Number(text) === 0) throw new InvalidArgumentError('a whole number from 1');
  return Number(text);
}
