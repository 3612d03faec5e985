/** The words of one flight and of the search for flights in English. */
import type { Resource } from '../model/timeline.ts';

const n = (value: number): string => value.toLocaleString('en-GB');

const resource: Readonly<Record<Resource, string>> = {
  stands: 'Stand',
  gates: 'Gate',
  checkins: 'Check-in',
  carousels: 'Belt',
  chutes: 'Chute',
};

export const flightWords = {
  resource,
  back: 'Flights',
  searchAll: 'Search all days',
  searchHint: 'By the beginning of a number, or by FLID.',
  found: (text: string) => `All days: ${text}`,
  foundNone: 'No flight of any day has this number or FLID.',
  closeSearch: 'Close the search',
  flight: 'Flight',
  day: 'Operation day',
  route: 'Route',
  archived: 'archived',
  scheduled: 'Scheduled',
  timeline: 'Timeline',
  timelineNone: 'The flight has no time yet.',
  milestones: 'Other times',
  planned: 'planned',
  actual: 'actual',
  now: 'now',
  open: '…',
  field: 'Field',
  value: 'Value',
  setBy: 'Set by message',
  setAt: 'When',
  versions: 'Versions',
  versionsNone: 'No version is kept: events that were sent are cleaned up in time.',
  first: 'First version',
  deletion: 'Deleted',
  beforeGone: 'The version before is no longer kept.',
  nothing: 'nothing',
  same: (count: number) => `${n(count)} unchanged`,
  attemptsFailed: (count: number, error: string) => `${n(count)} failed attempts: ${error}`,
  messages: 'Messages that touched it',
  messagesNone: 'None.',
  keptSent: (time: string) => `sent ${time}`,
};
