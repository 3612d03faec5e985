/** The shape of the status (`service/status.ts`). */
import { STATIONS } from '../../runtime/station.ts';
import { REQUEST_STATES } from '../../store/req-track.ts';
import {
  about,
  count,
  flag,
  id,
  list,
  nullable,
  number,
  object,
  oneOf,
  record,
  text,
  time,
  type Schema,
} from './shapes.ts';

const STATION = object({
  ...{ name: oneOf(...STATIONS), state: oneOf('running', 'paused', 'outage', 'stopped') },
  ...{ by: nullable(text), reason: nullable(text), since: nullable(time), perMinute: number },
});

const HOLE = object({
  ...{ from: id, to: id, ids: id, firstSeenAt: time },
  releasesAt: about(time, 'When it may be released by the clock.'),
  held: about(flag, 'Whether that time has passed and a writer still holds it.'),
});

const HEAD = object({
  ...{ msgId: id, type: nullable(text), styp: nullable(text), state: oneOf('PENDING', 'FAILED') },
  ...{ attempts: count, maxAttempts: count, errorClass: nullable(text), lastError: nullable(text) },
  ...{ nextAttemptAt: nullable(time), enqueuedAt: time },
  why: about(text, 'Why it waits.'),
});

const JOB = object({
  ...{ job: text, state: oneOf('running', 'waiting', 'due', 'failing') },
  ...{ startedAt: nullable(time), endedAt: nullable(time), nextAt: nullable(time) },
  ...{ rows: count, rowsTotal: count, failures: count, error: nullable(text) },
});

export const STATUS: Schema = object({
  ...{ airport: text, timeZone: text, version: text, role: oneOf('active', 'standby', 'none') },
  ...{ now: time, shadow: flag, stations: list(STATION) },
  inbox: object({
    ...{ watermark: id, seed: id, seeded: flag, highest: nullable(id), lag: count },
    ...{ holeSince: nullable(time), holes: list(HOLE), permanentHoles: count, lateArrivals: count },
    readAt: nullable(time),
  }),
  head: about(nullable(HEAD), 'The head of line.'),
  counts: object({ byState: record(count), byClass: record(count), deadSchedules: count }),
  outbox: list(object({ target: text, pending: count, oldestSeconds: number, sent: count, dead: count })),
  backfill: object({
    ...{ owed: count, confirmed: count },
    abandoned: object({ MISSING_ROW: count, TRANSIENT_DEADLINE: count }),
  }),
  requests: object({
    byState: object(Object.fromEntries(REQUEST_STATES.map((state) => [state, count]))),
    reports: object({ waiting: count, sent: count }),
  }),
  jobs: list(JOB),
  last: object({
    ...{ enqueuedAt: nullable(time), processedAt: nullable(time) },
    ...{ sentAt: nullable(time), markedAt: nullable(time) },
  }),
});
