/**
 * A system's outage is not a message's failure (decisions.md). An `Outage` says that a dependency cannot be
 * reached at all: the station pauses and charges nothing to anybody.
 */

/** What a station depends on. */
export type Dependency = 'database' | 'mailbox' | 'delivery';

/** Thrown by the edges where a dependency is down, unreachable or refuses all work. */
export class Outage extends Error {
  override readonly name = 'Outage';
  readonly dependency: Dependency;

  constructor(dependency: Dependency, cause: unknown) {
    super(`${dependency} is not available: ${messageOf(cause)}`, { cause });
    this.dependency = dependency;
  }
}

/** Thrown by a write whose epoch is no longer the lease's: somebody else is the active instance. */
export class LostLease extends Error {
  override readonly name = 'LostLease';

  constructor() {
    super('the lease has passed to another instance');
  }
}

/** The message of anything thrown, one line. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0]);
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/\s+/g, ' ').trim() || 'unknown error';
}

/** Codes of the operating system and of Node by which a connection fails, whatever the protocol above it. */
const CONNECTION_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
  'ERR_SOCKET_CLOSED',
]);

/** Whether an error is a failed connection by its system error code. */
export function isConnectionCode(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isConnectionCode);
  return (
    typeof error === 'object' && error !== null && 'code' in error && CONNECTION_CODES.has(String(error.code))
  );
}

/**
 * Whether a SQLSTATE says that the PostgreSQL server as a whole cannot work: connection exceptions,
 * shutdown, out of resources (disk full, too many connections), read-only, input/output errors.
 */
export function isOutageSqlState(code: string | undefined): boolean {
  if (code === undefined) return false;
  return (
    code.startsWith('08') ||
    code.startsWith('53') ||
    code.startsWith('58') ||
    code === '25006' || // read_only_sql_transaction: a standby, or a database set read-only
    code === '25P03' || // idle_in_transaction_session_timeout
    code === '57P01' || // admin_shutdown
    code === '57P02' || // crash_shutdown
    code === '57P03' || // cannot_connect_now
    code === '57P05' || // idle_session_timeout
    code === '55P03' || // lock_not_available: somebody else holds what everybody here needs
    code === '3D000' || // database does not exist (yet)
    code === '28P01' || // password refused: configuration, nothing to do with any message
    code === '28000'
  );
}
