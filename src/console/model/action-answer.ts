/** What an action's answer says of each thing it was asked for. Pure. */
import type { ActionBody } from '../api/operate.ts';

/** One thing: changed, or to be changed, with what is worth knowing; or refused, with the reason in msgx's words. */
export interface AnswerRow {
  readonly id: string;
  readonly name: { readonly kind: 'message' | 'event' | 'request'; readonly id: string };
  readonly about: readonly AnswerNote[];
  readonly refused: string | null;
}

export type AnswerNote =
  | { readonly kind: 'becomes'; readonly outcome: string }
  | { readonly kind: 'superseded'; readonly flid: string; readonly fields: readonly string[] }
  | { readonly kind: 'version'; readonly flid: string; readonly version: number }
  | { readonly kind: 'later'; readonly versions: readonly number[] }
  | { readonly kind: 'asks'; readonly type: string; readonly operationDay: string | null }
  | { readonly kind: 'replaces'; readonly requests: readonly string[] };

/** The things, those that are refused first; null where the action has but one. */
export function rowsOf(body: ActionBody): readonly AnswerRow[] | null {
  const rows = [
    ...(body.messages ?? []).map(({ msgId, becomes, superseded, refused }): AnswerRow => ({
      ...row('message', msgId, refused),
      about: [
        ...(becomes === null ? [] : [{ kind: 'becomes', outcome: becomes } as const]),
        ...superseded.map(({ flid, fields }) => ({ kind: 'superseded', flid, fields }) as const),
      ],
    })),
    ...(body.events ?? []).map(({ eventId, flid, version, laterDelivered, refused }): AnswerRow => ({
      ...row('event', eventId, refused),
      about: [
        ...(flid === null || version === null ? [] : [{ kind: 'version', flid, version } as const]),
        ...(laterDelivered.length === 0 ? [] : [{ kind: 'later', versions: laterDelivered } as const]),
      ],
    })),
    ...(body.changed ?? []).map((msgId) => row('message', msgId, null)),
    ...(body.refused ?? []).map(({ msgId, why }) => row('message', msgId, why)),
    ...(body.requests ?? []).map(({ reqId, type, operationDay, replaced }): AnswerRow => ({
      ...row('request', reqId ?? `${type} ${operationDay ?? ''}`, null),
      about: [
        { kind: 'asks', type, operationDay },
        ...(replaced.length === 0 ? [] : [{ kind: 'replaces', requests: replaced } as const]),
      ],
    })),
  ];
  if (rows.length === 0) return null;
  return rows.toSorted((left, right) => Number(left.refused === null) - Number(right.refused === null));
}

function row(kind: AnswerRow['name']['kind'], id: string, refused: string | null): AnswerRow {
  return { id: `${kind} ${id}`, name: { kind, id }, about: [], refused };
}
