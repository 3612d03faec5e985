/** What requests for a change share (contract, "HTTP"): a JSON body with a reason, which a dry run may lack. */
import type { FastifyRequest } from 'fastify';
import type { Operator, TriedOutcome } from '../actions/outcome.ts';
import { reasonText } from '../actions/outcome.ts';
import type { Clock } from '../domain/clock.ts';
import { MAX_ID } from '../domain/ids.ts';
import { whoOf } from './access.ts';

/** The JSON object of a body. */
export type Body = Readonly<Record<string, unknown>>;

export const NO_REASON = { error: 'a JSON body with a text in "reason" is needed' };

/** The JSON object of a body; empty where it is none. */
export function bodyOf(body: unknown): Body {
  if (!Buffer.isBuffer(body)) return {};
  try {
    const parsed: unknown = JSON.parse(body.toString('utf8'));
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : {};
  } catch {
    return {};
  }
}

/** The reason of a change as the audit keeps it; null where there is none. */
export function reasonOf({ reason }: Body): string | null {
  return typeof reason === 'string' ? reasonText(reason) : null;
}

/** Who asks for a change, and why; null where the reason is missing and the request is no dry run. */
export function operatorOf(body: Body, clock: Clock, request: FastifyRequest): Operator | null {
  const reason = reasonOf(body);
  if (reason === null && body['dryRun'] !== true) return null;
  return { who: whoOf(request), reason: reason ?? '', now: clock.now() };
}

/** An ID as text, or as a number that JSON has not rounded; null for everything else. */
export function idOf(value: unknown): bigint | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : null;
  if (typeof value !== 'string' || !/^\d{1,19}$/.test(value)) return null;
  const id = BigInt(value);
  return id > MAX_ID ? null : id;
}

/** Several IDs; null where it is no list, an empty one, or has something else in it. */
export function idsOf(value: unknown, most: number): readonly bigint[] | null {
  if (!Array.isArray(value) || value.length === 0 || value.length > most) return null;
  const ids = value.map(idOf);
  return ids.every((id) => id !== null) ? [...new Set(ids)] : null;
}

/** What a request for a change of several things says. */
export interface ListedChange {
  /** Null where all are meant. */
  readonly ids: readonly bigint[] | null;
  readonly operator: Operator;
  readonly dryRun: boolean;
  readonly force: boolean;
}

/** Reads such a request; what is missing, where it is not one. @param what the things, in the plural */
export function listedChangeOf(
  request: FastifyRequest,
  clock: Clock,
  { what, most }: { readonly what: string; readonly most: number },
): ListedChange | { readonly error: string } {
  const body = bodyOf(request.body);
  const ids = idsOf(body['ids'], most);
  if ((ids === null) !== (body['all'] === true)) {
    return { error: `"ids", a list, or "all" (true) says which ${what}` };
  }
  const operator = operatorOf(body, clock, request);
  if (operator === null) return NO_REASON;
  return { ids, operator, dryRun: body['dryRun'] === true, force: body['force'] === true };
}

/** 409 where the state forbids it. */
export function statusOf({ outcome }: Pick<TriedOutcome, 'outcome'>): 200 | 409 {
  return outcome === 'refused' ? 409 : 200;
}
