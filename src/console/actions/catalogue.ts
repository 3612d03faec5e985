/** Every action that an operator has, as the console offers it (contract, "HTTP"). */
import type { StationName } from '../api/types.ts';
import type { Dictionary } from '../i18n/en.ts';
import type { Action, Field } from './action.ts';

/** Classes that can be replayed (src/store/replay.ts). */
export const REPLAY_CLASSES = ['EXHAUSTED', 'CODEC_ERROR', 'UNSUPPORTED', 'INFRA', 'MALFORMED'] as const;

/** Some things by their IDs, or all that there are. */
export type Chosen = readonly string[] | 'all';

const chosenBody = (chosen: Chosen): object => (chosen === 'all' ? { all: true } : { ids: chosen });

export function skipMessage({ act }: Dictionary, msgId: string): Action {
  return {
    ...{ title: act.skipTitle(msgId), lead: act.skipLead, confirm: act.skip, final: true },
    path: () => 'actions/skip',
    body: () => ({ id: msgId }),
  };
}

/** @param msgIds those that are meant; without any, the dialog asks for a class or for IDs */
export function replayMessages({ act }: Dictionary, msgIds: readonly string[] = []): Action {
  const common = { lead: act.replayLead, confirm: act.replay, path: () => 'actions/replay' };
  if (msgIds.length > 0) {
    return { ...common, title: act.replayTitle(msgIds), body: () => ({ ids: msgIds }) };
  }
  const fields: readonly Field[] = [
    {
      ...{ name: 'scope', label: act.whichMessages, kind: 'select', initial: REPLAY_CLASSES[0] },
      options: [...REPLAY_CLASSES.map((name) => [name, act.ofClass(name)] as const), ['ids', act.byIds]],
    },
    {
      ...{ name: 'ids', label: act.messageIds, kind: 'text', initial: '' },
      shown: ({ scope }) => scope === 'ids',
    },
  ];
  return {
    ...{ ...common, title: act.replayAskTitle, fields },
    body: ({ scope = '', ids = '' }) => {
      if (scope !== 'ids') return { class: scope };
      const list = ids.split(/[\s,;]+/).filter((id) => id !== '');
      return list.length === 0 ? null : { ids: list };
    },
  };
}

export function settleEvents({ act }: Dictionary, change: 'retry' | 'drop', chosen: Chosen): Action {
  const count = chosen === 'all' ? null : chosen.length;
  if (change === 'drop') {
    return {
      ...{ title: act.dropTitle(count), lead: act.dropLead, confirm: act.drop, final: true },
      path: () => 'actions/dlq/drop',
      body: () => chosenBody(chosen),
    };
  }
  const force: Field = { name: 'force', label: act.force, kind: 'check', initial: '' };
  return {
    ...{ title: act.retryTitle(count), lead: act.retryLead, confirm: act.retry, fields: [force] },
    path: () => 'actions/dlq/retry',
    body: ({ force }) => ({ ...chosenBody(chosen), ...(force === 'yes' ? { force: true } : {}) }),
  };
}

export function settleMarks({ act }: Dictionary, change: 'reopen' | 'confirm', chosen: Chosen): Action {
  const count = chosen === 'all' ? null : chosen.length;
  return {
    title: change === 'reopen' ? act.reopenTitle(count) : act.confirmTitle(count),
    lead: change === 'reopen' ? act.reopenLead : act.confirmLead,
    confirm: change === 'reopen' ? act.reopen : act.confirmMark,
    final: change === 'confirm',
    path: () => `actions/backfill/${change}`,
    body: () => chosenBody(chosen),
  };
}

export function republishStates({ act }: Dictionary, today: string, flid = ''): Action {
  const fields: readonly Field[] = [
    {
      ...{ name: 'scope', label: act.which, kind: 'select', initial: flid === '' ? 'day' : 'flid' },
      options: [
        ['day', act.ofDay],
        ['flid', act.oneFlight],
        ['all', act.allFlights],
      ],
    },
    {
      ...{ name: 'day', label: act.day, kind: 'date', initial: today },
      shown: ({ scope }) => scope === 'day',
    },
    {
      ...{ name: 'flid', label: 'FLID', kind: 'text', initial: flid },
      shown: ({ scope }) => scope === 'flid',
    },
  ];
  return {
    ...{ title: act.republishTitle, lead: act.republishLead, confirm: act.republish, fields },
    path: () => 'actions/republish',
    body: ({ scope, day = '', flid: one = '' }) => {
      if (scope === 'all') return { all: true };
      if (scope === 'day') return day === '' ? null : { day };
      return one.trim() === '' ? null : { flid: one.trim() };
    },
  };
}

export interface AskChoices {
  readonly today: string;
  /** What else can be asked for; without any, schedules alone. */
  readonly types?: readonly string[];
  /** What is chosen at first. */
  readonly initial?: string;
}

export function askUpstream(
  { act }: Dictionary,
  { today, types = [], initial = 'SCHD' }: AskChoices,
): Action {
  const schedule = ({ what }: Readonly<Record<string, string>>): boolean => what === 'SCHD';
  const fields: readonly Field[] = [
    {
      ...{ name: 'what', label: act.what, kind: 'select', initial },
      options: [['SCHD', act.schedule] as const, ...types.map((type) => [type, type] as const)],
    },
    { name: 'from', label: act.firstDay, kind: 'date', initial: today, shown: schedule },
    { name: 'to', label: act.lastDay, kind: 'date', initial: '', shown: schedule },
  ];
  return {
    ...{ title: act.askTitle, lead: act.askLead, confirm: act.ask, fields },
    path: (values) => `actions/request/${schedule(values) ? 'schedule' : 'reference'}`,
    body: (values) => {
      const { what = '', from = '', to = '' } = values;
      if (!schedule(values)) return { type: what };
      return from === '' ? null : { from, to: to === '' ? from : to };
    },
  };
}

export function turnStation(
  { act, station }: Dictionary,
  change: 'pause' | 'resume',
  name: StationName,
): Action {
  return {
    title: change === 'pause' ? act.pauseTitle(station[name]) : act.resumeTitle(station[name]),
    lead: change === 'pause' ? act.pauseLead(name) : act.resumeLead,
    confirm: change === 'pause' ? act.pause : act.resume,
    path: () => `stations/${name}/${change}`,
    body: () => ({}),
  };
}
