/** Which errors of MySQL and MariaDB mean "no mailbox" rather than "this statement is refused": by number alone. */
import { Outage } from '../runtime/outage.ts';

/**
 * Numbers by which the server as a whole, or for now, does not serve us. Those from 1900 are MariaDB's, from
 * 3000 MySQL's, from 9000 of proxies.
 */
const OUTAGE_NUMBERS = new Set([
  // Resources: disk full, out of memory, too many open files.
  1021, 1026, 1037, 1038, 1041, 1114, 1135,
  // The storage engine cannot work.
  1030, 1016,
  // Connections: too many, from a host that is blocked, limits of the user.
  1040, 1129, 1130, 1203, 1226,
  // Handshake, access, unknown database: configuration, nothing to do with any message.
  1042, 1043, 1044, 1045, 1049, 1251, 1524, 1698, 1820, 1862, 3118, 4151,
  // A cluster node that is not ready for queries (wsrep).
  1047,
  // Shutdown, killed connections and statements.
  1053, 1077, 1079, 1080, 1152, 1184, 1317, 1927, 3168, 3169, 4031,
  // Network, as the server saw it.
  1158, 1159, 1160, 1161,
  // Deadlines and locks of others: the statement waited until its time was over.
  1205, 1206, 1969, 3024,
  // Read-only: a replica, or a server set read-only.
  1036, 1290, 1792, 1836,
  // No backend behind the proxy in time.
  9001,
]);

/** The table or column is no longer called what we found. */
const RENAMED_NUMBERS = new Set([1146, 1054]);
/** The statement was chosen as the victim of a deadlock and undone. */
const DEADLOCK = 1213;
/** A privilege is missing: on everything (PROCESS), a table, a column. */
const DENIED_NUMBERS = new Set([1227, 1142, 1143]);

/** The server's error number; null where the error did not come from a server. */
export function serverErrorNumber(error: unknown): number | null {
  if (!(error instanceof Error) || !('errno' in error) || !('sqlState' in error)) return null;
  return typeof error.errno === 'number' && error.errno > 0 ? error.errno : null;
}

/** What the driver threw: an error that refuses this statement stays, everything that means "no mailbox" is an Outage. */
export function translateMysqlError(error: unknown): unknown {
  if (error instanceof Outage) return error;
  const number = serverErrorNumber(error);
  if (number !== null) return OUTAGE_NUMBERS.has(number) ? new Outage('mailbox', error) : error;
  // The driver's own errors (connection lost, refused, bad handshake) bear no number of a server. A TypeError
  // is a wrong parameter, a fault of ours.
  return error instanceof TypeError ? error : new Outage('mailbox', error);
}

export function isRenamed(error: unknown): boolean {
  return RENAMED_NUMBERS.has(serverErrorNumber(error) ?? 0);
}

export function isDeadlock(error: unknown): boolean {
  return serverErrorNumber(error) === DEADLOCK;
}

export function isDenied(error: unknown): boolean {
  return DENIED_NUMBERS.has(serverErrorNumber(error) ?? 0);
}
