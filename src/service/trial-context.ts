/** What a trial run goes by, from the configuration of the pump. */
import type { TrialContext } from '../actions/trial.ts';
import type { Config } from '../config/schema.ts';
import type { Dialect } from '../dialect/port.ts';
import type { Database } from '../store/database.ts';

export function trialContext(config: Config, database: Database, dialect: Dialect): TrialContext {
  return {
    ...{ database, dialect, timeZone: config.timeZone },
    operationDayCutoff: config.operationDayCutoff,
    includeDayBoundary: config.identity.includeDayBoundary,
    clockSkewMs: config.requests.clockSkewMs,
  };
}
