/**
 * Replay (seed §9.1, US-10): messages of the whitelist go back to the line, those alone that would pass now. Precheck,
 * trial run, conditional update and audit; the update in transactions of a few rows, so that nobody waits long for one.
 * An older message overwrites nothing newer: what it would lose is named beforehand.
 */
import type { Json } from '../domain/json.ts';
import { prefixOf } from '../domain/reasons.ts';
import { chunksOf } from '../store/chunks.ts';
import { selectMessages, type MessageRecord } from '../store/message-actions.ts';
import { insertAudits } from '../store/op-audit.ts';
import { REPLAY_CLASSES, reenqueue, selectReplayable, type ReplayClass } from '../store/replay.ts';
import type { Counted, Operator } from './outcome.ts';
import { pacer } from './pace.ts';
import { partsOf } from './parts.ts';
import { tryMessages, type Superseded, type TrialContext, type Verdict } from './trial.ts';

/** Messages that are tried, and told, together; a class may have more. */
export const MOST_REPLAYED = 10_000;
/** Rows of one transaction. They go before everything that flows: what comes meanwhile waits for so many at most. */
const BATCH = 10;
/** Shortest rest behind a transaction, in which the pump ends what was put back, ms. */
const REST_MS = 25;
/** Most fields named in one audit row. */
const MOST_FIELDS = 50;

export interface ReplayRequest {
  readonly scope:
    | { readonly kind: 'class'; readonly errorClass: ReplayClass }
    | { readonly kind: 'ids'; readonly msgIds: readonly bigint[] };
  /** Says what would be done and does nothing. */
  readonly dryRun: boolean;
}

/** What became of one message, or would. */
export interface ReplayResult {
  readonly msgId: string;
  /** What it would end as; null where it would not pass. */
  readonly becomes: string | null;
  readonly superseded: readonly Superseded[];
  /** Why it was left alone; null where it was put back, or would be. */
  readonly refused: string | null;
}

export interface ReplayOutcome {
  readonly outcome: 'done' | 'planned' | 'refused';
  readonly message: string;
  readonly counted: Counted;
  /** The first of them. */
  readonly messages: readonly ReplayResult[];
}

/** Puts messages back to the line; `refused` where not one of them would pass. Throws Outage. @param pageSize messages tried at once */
export async function replay(
  context: TrialContext,
  { scope, dryRun }: ReplayRequest,
  operator: Operator,
  pageSize = MOST_REPLAYED,
): Promise<ReplayOutcome> {
  const told: ReplayResult[] = [];
  const tally: Tally = { all: 0, passing: 0, lost: 0, first: null };
  const { database, dialect } = context;
  const nextOfClass = async (after: bigint, limit: number) =>
    scope.kind === 'ids'
      ? []
      : selectReplayable(database, scope.errorClass, dialect.profileHash, { after, limit });
  const asked = scope.kind === 'ids' ? scope.msgIds : 'all';
  for await (const named of partsOf(asked, pageSize, nextOfClass)) {
    const results = await replayPage(context, named, dryRun, operator);
    count(tally, results);
    told.push(...results.slice(0, MOST_REPLAYED - told.length));
  }
  const counted = { all: tally.all, changed: tally.passing };
  if (tally.all > 0) return { ...summary(tally, dryRun), counted, messages: told };
  const what = scope.kind === 'class' ? `no message of class ${scope.errorClass}` : 'no message';
  return { outcome: 'refused', message: `there is ${what} to replay`, counted, messages: [] };
}

/** Each page is tried for itself: what one puts back has not run when the next is tried. */
async function replayPage(
  context: TrialContext,
  named: readonly bigint[],
  dryRun: boolean,
  operator: Operator,
): Promise<readonly ReplayResult[]> {
  const { database, dialect } = context;
  const found = new Map((await selectMessages(database, named)).map((row) => [row.msgId, row]));
  const obstacles = new Map(named.map((id) => [id, obstacleTo(id, found.get(id), dialect.profileHash)]));
  const allowed = named.filter((id) => obstacles.get(id) === null);
  const verdicts = await tryMessages(context, allowed, operator.now);
  const passing = allowed.flatMap((id) => {
    const row = found.get(id);
    return verdicts.get(id)?.passes === true && row !== undefined ? [row] : [];
  });
  const put = dryRun ? null : await putBack(context, passing, verdicts, operator);
  return named.map((id) => resultOf(id, obstacles.get(id) ?? null, verdicts.get(id), put));
}

async function putBack(
  { database }: TrialContext,
  passing: readonly MessageRecord[],
  verdicts: ReadonlyMap<bigint, Verdict>,
  { who, reason, now }: Operator,
): Promise<ReadonlySet<bigint>> {
  const put = new Set<bigint>();
  const rest = pacer(REST_MS);
  for (const part of chunksOf(passing, BATCH)) {
    const done = await database.transaction(async (tx) => {
      const done = await reenqueue(tx, part);
      const changes = part
        .filter(({ msgId }) => done.has(msgId))
        .map((row) => ({
          target: `message:${row.msgId.toString()}`,
          before: standing(row),
          after: expectation(verdicts.get(row.msgId)),
        }));
      await insertAudits(tx, { at: now, who, action: 'replay', reason }, changes);
      return done;
    });
    for (const id of done) put.add(id);
    await rest();
  }
  return put;
}

function standing({ state, attempts, errorClass, lastError, reason }: MessageRecord): Json {
  return { state, attempts, errorClass, lastError, reason };
}

function expectation(verdict: Verdict | undefined): Json {
  if (verdict?.passes !== true) return { state: 'PENDING' };
  const fields = verdict.superseded.flatMap(({ flid, fields }) => fields.map((field) => `${flid} ${field}`));
  return { state: 'PENDING', expected: verdict.becomes, superseded: fields.slice(0, MOST_FIELDS) };
}

/** The whitelist (seed §9.1; MALFORMED and no-match: decisions.md). */
function obstacleTo(id: bigint, row: MessageRecord | undefined, profileHash: string): string | null {
  const name = `message ${id.toString()}`;
  if (row === undefined) return `there is no ${name}`;
  if (row.archived) return `${name} is archived`;
  const { state, errorClass, reason } = row;
  switch (state) {
    case 'PENDING':
      return `${name} waits for its turn already`;
    case 'SUCCEEDED':
      return `${name} has SUCCEEDED`;
    case 'SKIPPED':
      return reason !== null && prefixOf(reason) === 'no-match'
        ? null
        : `${name} is SKIPPED, ${reason ?? ''}: only no-match is replayed`;
    case 'FAILED':
    case 'DEAD':
      if (errorClass === null || !(REPLAY_CLASSES as readonly string[]).includes(errorClass)) {
        return `${name} is ${state}(${errorClass ?? ''}), which is not replayed`;
      }
      return errorClass === 'MALFORMED' && row.profileHash === profileHash
        ? `${name} is MALFORMED under the profile in use: correct the profile first`
        : null;
  }
}

function resultOf(
  id: bigint,
  obstacle: string | null,
  verdict: Verdict | undefined,
  put: ReadonlySet<bigint> | null,
): ReplayResult {
  const msgId = id.toString();
  if (verdict?.passes !== true) {
    const why = obstacle ?? `message ${msgId} would not pass: ${verdict?.reason ?? 'not tried'}`;
    return { msgId, becomes: null, superseded: [], refused: why };
  }
  const overtaken = put !== null && !put.has(id);
  return {
    ...{ msgId, becomes: verdict.becomes, superseded: verdict.superseded },
    refused: overtaken ? `message ${msgId} has changed meanwhile: look again` : null,
  };
}

/** What came of all pages. */
interface Tally {
  all: number;
  passing: number;
  /** Passing, with fields that newer messages have set since. */
  lost: number;
  /** The first refusal. */
  first: string | null;
}

function count(tally: Tally, results: readonly ReplayResult[]): void {
  for (const { refused, superseded } of results) {
    tally.all += 1;
    tally.first ??= refused;
    if (refused !== null) continue;
    tally.passing += 1;
    if (superseded.length > 0) tally.lost += 1;
  }
}

function summary(
  { all, passing, lost, first }: Tally,
  dryRun: boolean,
): Pick<ReplayOutcome, 'outcome' | 'message'> {
  const refused = all - passing;
  const others = `${first ?? ''}${refused > 1 ? `, and ${String(refused - 1)} more` : ''}`;
  if (passing === 0) return { outcome: 'refused', message: others };
  const number = `${String(passing)} of ${String(all)} ${all === 1 ? 'message' : 'messages'}`;
  const losing = lost === 0 ? '' : `; ${String(lost)} with fields that newer messages have set since`;
  const left = refused === 0 ? '' : `; left: ${others}`;
  return dryRun
    ? { outcome: 'planned', message: `would replay ${number}${losing}${left}` }
    : { outcome: 'done', message: `replaying ${number}${losing}${left}` };
}
