import { describe, expect, it } from 'vitest';
import { Outage } from '../../src/runtime/outage.ts';
import { translateDriverError, withOwnSettings } from '../../src/runtime/postgres.ts';

describe('errors of the driver', () => {
  it.each([new TypeError('wrong parameter'), new RangeError('Invalid string length')])(
    'a fault of ours is no outage: %s',
    (error) => {
      expect(translateDriverError('database', error)).toBe(error);
    },
  );

  it.each([
    new Error('Connection terminated unexpectedly'),
    Object.assign(new RangeError('bad port'), { code: 'ECONNREFUSED' }),
  ])('what has no SQLSTATE otherwise is one: %s', (error) => {
    expect(translateDriverError('database', error)).toBeInstanceOf(Outage);
  });
});

describe('settings of a connection', () => {
  it('leaves a URL without a query as it is, and one that is no URL', () => {
    for (const url of ['postgres://user@host/name', '/var/run/postgresql name?x=1']) {
      expect(withOwnSettings(url, '-c a=1')).toEqual({ connectionString: url, options: '-c a=1' });
    }
  });

  it('takes out what would overrule ours and keeps the rest', () => {
    const url = 'postgres://u:p%40ss@host/name?sslmode=require&statement_timeout=0&options=-c%20b%3D2';
    expect(withOwnSettings(url, '-c a=1')).toEqual({
      connectionString: 'postgres://u:p%40ss@host/name?sslmode=require',
      options: '-c b=2 -c a=1',
    });
  });
});
