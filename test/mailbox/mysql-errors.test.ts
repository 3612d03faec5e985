import { describe, expect, it } from 'vitest';
import { isDeadlock, isDenied, isRenamed, translateMysqlError } from '../../src/mailbox/mysql-errors.ts';
import { Outage } from '../../src/runtime/outage.ts';

/** As the driver makes it from a server's error packet. */
const fromServer = (errno: number) =>
  Object.assign(new Error('text that nobody reads'), { errno, code: 'ER_X', sqlState: 'HY000' });

describe('errors of MySQL and MariaDB', () => {
  it.each([1040, 1045, 1049, 1053, 1205, 1290, 1317, 1836, 1927, 1969, 3024, 4031])(
    '%i is an outage',
    (errno) => {
      const error = fromServer(errno);
      expect(translateMysqlError(error)).toBeInstanceOf(Outage);
      expect(translateMysqlError(error)).toMatchObject({ dependency: 'mailbox', cause: error });
    },
  );

  it.each([1062, 1064, 1142, 1143, 1146, 1213, 1366, 1406])('%i refuses the statement alone', (errno) => {
    const error = fromServer(errno);
    expect(translateMysqlError(error)).toBe(error);
  });

  it('what bears no number of a server is a lost connection, unless the fault is ours', () => {
    for (const code of ['ECONNREFUSED', 'PROTOCOL_CONNECTION_LOST', 'HANDSHAKE_NO_SSL_SUPPORT']) {
      const error = Object.assign(new Error('x'), { code, errno: -111, fatal: true });
      expect(translateMysqlError(error)).toBeInstanceOf(Outage);
    }
    const ours = new TypeError('wrong parameter');
    expect(translateMysqlError(ours)).toBe(ours);
    const outage = new Outage('mailbox', null);
    expect(translateMysqlError(outage)).toBe(outage);
  });

  it('tells renamed tables, deadlocks and missing privileges by number', () => {
    expect([1146, 1054, 1213].map((errno) => isRenamed(fromServer(errno)))).toEqual([true, true, false]);
    expect([1213, 1205].map((errno) => isDeadlock(fromServer(errno)))).toEqual([true, false]);
    expect([1227, 1142, 1143, 1064].map((errno) => isDenied(fromServer(errno)))).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });
});
