/**
 * The active instance is stopped while it writes a request into COUTMSGS, and still holds the lock there. The standby
 * waits for that lock, then finds the row or writes it; the former one, awake again, adds nothing.
 */
import { describe, expect, it } from 'vitest';
import { mariadbMissing } from '../kit/mariadb.ts';
import { startMsgx } from '../kit/msgx-process.ts';
import { postgresMissing } from '../kit/postgres.ts';
import { startProxy, targetOf, through } from '../kit/tcp-proxy.ts';
import { until } from '../kit/until.ts';
import { expectEnd, OUTAGE, prepareSending, type Kind } from './request-sending.ts';

describe.skipIf(postgresMissing !== null || mariadbMissing !== null)('a standby', () => {
  it.for<[Kind, string, readonly string[]]>([
    ['MariaDB', 'insert', ['insert into']],
    ['MariaDB', 'commit', ['insert into', 'commit']],
    ['PostgreSQL', 'insert', ['insert into']],
    ['PostgreSQL', 'commit', ['insert into', 'commit']],
  ])(
    'over %s goes on with a request whose %s was under way when the active one stalled: one row',
    { timeout: 120_000 },
    async ([kind, held, texts], test) => {
      const pipeline = await prepareSending(test, kind, { what: 'request' });
      const proxy = await startProxy(targetOf(pipeline.mailboxSide.url));
      const reached = proxy.hold(texts);
      const former = await startMsgx(test, pipeline, {
        settings: { mailbox: { url: through(pipeline.mailboxSide.url, proxy) } },
      });
      const release = await reached;
      former.signal('SIGSTOP');
      const standby = await startMsgx(test, pipeline);
      await standby.active();
      await until('the new one to wait for the lock in vain', () =>
        standby.log.some(({ station, msg }) => station === 'requests' && msg === OUTAGE) ? true : null,
      );
      expect(await pipeline.rows('select state, requested_by from req_track')).toEqual([
        { state: 'PENDING', requested_by: 'msgx:daily-at' },
      ]);
      release();
      // PostgreSQL's lock ends with the commit: the row is found while the former one is still away. MariaDB's ends with
      // the session, which the server keeps for a minute.
      if (kind === 'PostgreSQL' && held === 'commit') await expectEnd(pipeline, { what: 'request' });
      former.signal('SIGCONT');
      await former.logged('standby: another instance is active');
      await expectEnd(pipeline, { what: 'request' });
      expect(former.log.filter(({ msg }) => msg.startsWith('unexpected'))).toEqual([]);
    },
  );
});
