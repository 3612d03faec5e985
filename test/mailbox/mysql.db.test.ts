import { setTimeout as pause } from 'node:timers/promises';
import { inspect } from 'node:util';
import type { RowDataPacket } from 'mysql2/promise';
import { describe, expect, it } from 'vitest';
import { msgId } from '../../src/domain/ids.ts';
import { serverErrorNumber } from '../../src/mailbox/mysql-errors.ts';
import { openMailbox } from '../../src/mailbox/open.ts';
import { Outage } from '../../src/runtime/outage.ts';
import { MAILBOX_NAMES } from '../kit/mailbox.ts';
import { mailboxConformance } from '../kit/mailbox-conformance.ts';
import {
  createMariadbMailbox,
  mariadb,
  mariadbMissing,
  upstreamInsert,
  type MariadbFixture,
} from '../kit/mariadb.ts';
import { startProxy, targetOf, through } from '../kit/tcp-proxy.ts';
import { until } from '../kit/until.ts';

const range = (from: bigint, to: bigint) => ({ from: msgId(from), to: msgId(to) });

/** Sets a global variable of the server for new sessions while the work runs. */
async function withGlobal<T>(name: string, value: string | number, work: () => Promise<T>): Promise<T> {
  const admin = await (await mariadb()).session();
  const [[row]] = await admin.query<RowDataPacket[]>(`select @@global.${name} as value`);
  const before: unknown = row?.['value'];
  await admin.query(`set global ${name} = ?`, [value]);
  try {
    return await work();
  } finally {
    await admin.query(`set global ${name} = ?`, [typeof value === 'number' ? Number(before) : before]);
  }
}

describe.skipIf(mariadbMissing !== null)('mailbox in MariaDB', () => {
  mailboxConformance({
    create: () => createMariadbMailbox(),
    url: (fixture) => (fixture as MariadbFixture).options.url,
    seesWriters: true,
  });

  describe('IDs', () => {
    it('by twos: inserts give the IDs really assigned, look-ahead one gap between each', async () => {
      await withGlobal('auto_increment_increment', 2, async () => {
        const box = await createMariadbMailbox();
        expect(await box.mailbox.insert('a')).toBe(1n);
        expect(await box.mailbox.insertAll(['b', 'c', 'd'])).toEqual([3n, 5n, 7n]);
        const open = await box.mailbox.openInsert('e');
        expect(open.id).toBe(9n);
        await open.rollback();
        expect(await box.mailbox.insert('f')).toBe(11n);
        expect((await box.mailbox.lookAhead(0n, 100)).gaps).toEqual([
          range(2n, 2n),
          range(4n, 4n),
          range(6n, 6n),
          range(8n, 10n),
        ]);
        expect([...(await box.mailbox.texts([3n, 5n, 7n])).values()]).toEqual(['b', 'c', 'd']);
      });
    });

    it('of rolled-back inserts stay gaps, however many one transaction took', async () => {
      const box = await createMariadbMailbox();
      await upstreamInsert(box.owner, 'kept');
      await box.owner.beginTransaction();
      for (let n = 0; n < 5; n++) await upstreamInsert(box.owner, 'dropped');
      await box.owner.rollback();
      expect(await upstreamInsert(box.owner, 'after')).toBe(7n);
      expect(await box.mailbox.lookAhead(0n, 9)).toEqual({ gaps: [range(2n, 6n)], through: 7n, rows: 2 });
      expect(await box.mailbox.gapsUpTo(4n)).toEqual([range(2n, 4n)]);
    });

    it('beyond 2^53 come exactly from every insert', async () => {
      const box = await createMariadbMailbox();
      const first = 2n ** 53n + 1n;
      await box.owner.query('alter table CMINMSGS auto_increment = ?', [first]);
      expect(await box.mailbox.insert('a')).toBe(first);
      expect(await box.mailbox.insertAll(['b', 'c'])).toEqual([first + 1n, first + 2n]);
      const open = await box.mailbox.openInsert('d');
      expect(open.id).toBe(first + 3n);
      await open.commit();
      expect((await box.mailbox.rowsAfter(first, 9)).map(({ id }) => id)).toEqual([
        first + 1n,
        first + 2n,
        first + 3n,
      ]);
      expect((await box.mailbox.mark([first + 2n])).get(first + 2n)).toBe('marked');
      expect(await box.markOf(first + 1n)).toBeNull();
    });

    it('are refused, with no row left behind, where the table assigns none', async () => {
      const box = await createMariadbMailbox();
      await box.owner.query(`alter table CMINMSGS modify CMINMSGS_ID bigint not null default 77`);
      const refused: unknown = await box.mailbox.insert('x').catch((error: unknown) => error);
      expect(refused).not.toBeInstanceOf(Outage);
      expect(refused).toMatchObject({ message: expect.stringMatching(/not AUTO_INCREMENT/) as string });
      expect(await box.mailbox.rowsAfter(0n, 9)).toEqual([]);
    });
  });

  describe('texts', () => {
    it('in a gbk column go both ways; length is counted in UTF-8, what gbk lacks is refused', async () => {
      const box = await createMariadbMailbox();
      await box.owner.query('alter table CMINMSGS modify CMINMSGS_CLOB_MSG longtext character set gbk');
      const text = '<MSG>航班延误 “引号” \\ \' "</MSG>';
      const id = await box.mailbox.insert(text);
      const [[stored]] = await box.owner.query<RowDataPacket[]>(
        'select hex(substring(CMINMSGS_CLOB_MSG, 6, 2)) as gbk from CMINMSGS',
      );
      expect(stored?.['gbk']).toBe('BABDB0E0');
      expect((await box.mailbox.texts([id])).get(id)).toBe(text);
      expect((await box.mailbox.rowsAfter(0n, 1))[0]?.bytes).toBe(Buffer.byteLength(text));
      await box.owner.query("insert into CMINMSGS (CMINMSGS_CLOB_MSG) values (_gbk x'BABDB0E0')");
      expect((await box.mailbox.texts([id + 1n])).get(id + 1n)).toBe('航班');
      const refused: unknown = await box.mailbox.insert('𠮷').catch((error: unknown) => error);
      expect(refused).not.toBeInstanceOf(Outage);
      expect(serverErrorNumber(refused)).toBe(1366);
      expect((await box.mailbox.check()).filter(({ result }) => result !== 'ok')).toEqual([
        expect.objectContaining({ what: 'column CMINMSGS_CLOB_MSG', result: 'warning' }),
      ]);
    });

    it('survive a server that gives its users another charset, no autocommit and no escapes', async () => {
      const box = await createMariadbMailbox();
      const url = await box.leastUser();
      const unfriendly = "set names gbk, autocommit = 0, sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES'";
      await withGlobal('init_connect', unfriendly, async () => {
        const mailbox = await box.reopen({ url });
        const text = `延误 𠮷 \\' " \\\\ \n '; drop table CMINMSGS; -- `;
        const id = await mailbox.insert(text);
        expect((await box.mailbox.texts([id])).get(id)).toBe(text);
        expect((await mailbox.texts([id])).get(id)).toBe(text);
        // A session that does not commit by itself would go on seeing what it saw first.
        const later = await upstreamInsert(box.owner, 'later');
        expect((await mailbox.rowsAfter(0n, 9)).map((row) => row.id)).toEqual([id, later]);
        await mailbox.mark([id]);
        expect(await box.markOf(id)).not.toBeNull();
      });
    });

    it('of bytes without a charset are not guessed', async () => {
      const box = await createMariadbMailbox();
      await box.owner.query('alter table CMINMSGS modify CMINMSGS_CLOB_MSG longblob');
      const mailbox = await box.reopen({});
      await expect(mailbox.rowsAfter(0n, 1)).rejects.toThrow(/longblob: a text must have a charset/);
      expect(await mailbox.check()).toContainEqual(
        expect.objectContaining({ what: 'column CMINMSGS_CLOB_MSG', result: 'failed' }),
      );
    });
  });

  describe('names and grants', () => {
    it('are mapped, whatever their case, and looked up again after a change', async () => {
      const box = await createMariadbMailbox();
      const { owner, database, server } = box;
      await owner.query(`create table \`In box\` (Nr int unsigned auto_increment primary key, msg text,
        done timestamp null) engine = InnoDB default charset = utf8mb4;
        insert into \`In box\` (msg) values ('x'), ('y')`);
      const names = {
        ...MAILBOX_NAMES,
        inbound: {
          ...MAILBOX_NAMES.inbound,
          table: `${database}.IN BOX`,
          id: 'NR',
          text: 'MSG',
          processed: 'Done',
        },
      };
      const url = server.url('mysql');
      const mailbox = await openMailbox({ url, names, timeoutMs: 5_000 });
      expect(await mailbox.rowsAfter(1n, 5)).toEqual([{ id: 2n, bytes: 1, receivedAt: null, marked: false }]);
      expect(await mailbox.mark([2n])).toEqual(new Map([[2n, 'marked']]));
      expect(await mailbox.lookAhead(0n, 5)).toEqual({ gaps: [], through: 2n, rows: 2 });
      expect(await mailbox.insert('z')).toBe(3n);
      expect(await mailbox.isOurs()).toBe(false);
      await owner.query('rename table `In box` to `iN bOX`');
      await mailbox.rowsAfter(0n, 1).catch(() => null);
      expect(await mailbox.rowsAfter(2n, 5)).toMatchObject([{ id: 3n, bytes: 1 }]);
      await mailbox.close();
    });

    it('that are missing are told by their configuration key, and found once they are there', async () => {
      const { owner, server, database } = await createMariadbMailbox();
      await owner.query('drop table CMINMSGS');
      const mailbox = await openMailbox({
        url: server.url(database),
        names: MAILBOX_NAMES,
        timeoutMs: 5_000,
      });
      const missing: unknown = await mailbox.rowsAfter(0n, 1).catch((error: unknown) => error);
      expect(missing).toBeInstanceOf(Outage);
      expect(missing).toMatchObject({
        message: expect.stringMatching(/msgx\.mailbox\.tables\.inbound\.table/) as string,
      });
      expect(await mailbox.probe()).toBe(false);
      expect((await mailbox.check()).map(({ result }) => result)).toContain('failed');
      await owner.query(
        'create table CMINMSGS (CMINMSGS_ID bigint, CMINMSGS_CLOB_MSG text) engine = MyISAM charset = utf8mb4',
      );
      await expect(mailbox.rowsAfter(0n, 1)).rejects.toThrow(/msgx\.mailbox\.tables\.inbound\.processed/);
      await owner.query('alter table CMINMSGS add CMINMSGS_DATE_PROCESSED datetime not null');
      expect(await mailbox.rowsAfter(0n, 1)).toEqual([]);
      expect(await mailbox.probe()).toBe(true);
      const faults = (await mailbox.check()).filter(({ result }) => result !== 'ok');
      expect(faults.map(({ what, result }) => `${what} ${result}`)).toEqual([
        'table CMINMSGS warning',
        'column CMINMSGS_ID warning',
        'column CMINMSGS_DATE_PROCESSED failed',
        'column CMINMSGS_DATE_RECEIVED warning',
        'column CMINMSGS_STATUS warning',
        'index on CMINMSGS_ID warning',
      ]);
      // No transactions are listed for this engine: nobody is known, which is not the same as nobody.
      expect(await mailbox.writers()).toBeNull();
      await mailbox.close();
    });

    it('least grants suffice for everything but seeing writers', async () => {
      const box = await createMariadbMailbox();
      const mailbox = await box.reopen({ url: await box.leastUser() });
      const id = await mailbox.insert('x');
      const more = await mailbox.insertAll(['y', 'z']);
      const open = await mailbox.openInsert('held');
      expect(await mailbox.writers()).toBeNull();
      await open.commit();
      expect((await mailbox.lookAhead(0n, 9)).rows).toBe(4);
      expect(await mailbox.mark([id])).toEqual(new Map([[id, 'marked']]));
      expect((await mailbox.texts(more)).size).toBe(2);
      const asked = await mailbox.withOutbound((outbound) => outbound.insert('asked', 'AODB'));
      expect(await mailbox.withOutbound((outbound) => outbound.rowsAfter(0n, 9))).toEqual([
        { id: asked, text: 'asked' },
      ]);
      expect((await mailbox.check()).filter(({ result }) => result !== 'ok')).toEqual([
        expect.objectContaining({ what: 'PROCESS', result: 'warning' }),
      ]);
    });

    it('missing grants are named by check, and refuse the statement without being an outage', async () => {
      const box = await createMariadbMailbox();
      const url = await box.leastUser();
      const user = new URL(url).username;
      await box.owner.query(`revoke insert, update (CMINMSGS_DATE_PROCESSED) on CMINMSGS from '${user}'@'%';
        revoke insert, select on COUTMSGS from '${user}'@'%'`);
      await box.insertAt(1n, 'x');
      const mailbox = await box.reopen({ url });
      for (const call of [() => mailbox.mark([1n]), () => mailbox.insert('secret text')]) {
        const refused: unknown = await call().catch((error: unknown) => error);
        expect(refused).not.toBeInstanceOf(Outage);
        expect(serverErrorNumber(refused)).toBeGreaterThan(0);
        // The driver hangs the whole statement on its errors, which end in logs.
        expect(inspect(refused, { depth: 9 })).not.toContain('secret text');
      }
      expect(await mailbox.rowsAfter(0n, 9)).toHaveLength(1);
      const faults = (await mailbox.check()).filter(({ result }) => result !== 'ok');
      expect(faults.map(({ what, result }) => `${what.replace(/ on .*/, '')} ${result}`)).toEqual([
        'UPDATE (`CMINMSGS_DATE_PROCESSED`) failed',
        'INSERT warning',
        'PROCESS warning',
        'table COUTMSGS failed',
      ]);
      const wrong = await box.reopen({ url: box.server.url(box.database, { user, password: 'wrong' }) });
      await expect(wrong.rowsAfter(0n, 1)).rejects.toThrow(Outage);
      const plain = await box.reopen({ url: `${box.options.url}?ssl-mode=required` });
      // This server has no TLS, and nothing is sent to it without.
      await expect(plain.rowsAfter(0n, 1)).rejects.toThrow(Outage);
      const nowhere = await box.reopen({ url: box.server.url('no_such_database') });
      await expect(nowhere.rowsAfter(0n, 1)).rejects.toThrow(Outage);
    });
  });

  describe('writers', () => {
    it('are never overlooked because others keep reading the list', async () => {
      const box = await createMariadbMailbox();
      const watcher = await box.server.session();
      const watching = { now: true };
      // The server renews its list only after 100 ms without a reader: this one never lets it.
      const watch = (async () => {
        while (watching.now) {
          await watcher.query('select count(*) from information_schema.innodb_trx');
          await pause(20);
        }
      })();
      await pause(150);
      const open = await box.mailbox.openInsert('held');
      const seen = await box.mailbox.writers();
      expect(seen).not.toEqual([]);
      watching.now = false;
      await watch;
      expect((await box.mailbox.writers())?.length).toBeGreaterThan(0);
      await open.rollback();
    });

    it('are not those who only read, however long their transaction is open', async () => {
      const box = await createMariadbMailbox();
      await box.insertAt(1n, 'x');
      // The second locks what it reads; neither can hold an ID that is still missing.
      for (const statement of ['select * from CMINMSGS', 'select * from CMINMSGS for update']) {
        const reader = await box.server.session(box.database);
        await reader.query('start transaction with consistent snapshot');
        await reader.query(statement);
        expect(await box.mailbox.writers()).toEqual([]);
      }
    });

    it('are those, too, whose INSERT has its ID and waits for another', async () => {
      const box = await createMariadbMailbox();
      await box.insertAt(1n, 'x');
      const [reader, writer] = [
        await box.server.session(box.database),
        await box.server.session(box.database),
      ];
      // Locks the end of the table: the insert is given its ID and cannot place its row.
      await reader.query('set session transaction isolation level repeatable read');
      await reader.beginTransaction();
      await reader.query('select * from CMINMSGS for update');
      const waiting = upstreamInsert(writer, 'y');
      await expect.poll(async () => (await box.mailbox.writers())?.length).toBeGreaterThan(0);
      await reader.rollback();
      expect(await waiting).toBe(2n);
      expect(await box.mailbox.writers()).toEqual([]);
    });

    it('keep a token when they are prepared for XA and their session is gone', async () => {
      const box = await createMariadbMailbox();
      const session = await box.server.session(box.database);
      await session.query("xa start 'x1'");
      await upstreamInsert(session, 'held');
      const before = (await box.mailbox.writers()) ?? [];
      await session.query("xa end 'x1'");
      await session.query("xa prepare 'x1'");
      await session.end();
      await expect
        .poll(async () => {
          const after = await box.mailbox.writers();
          return [
            before.some((token) => after?.includes(token)),
            before.every((token) => after?.includes(token)),
          ];
        })
        .toEqual([true, false]);
      await box.owner.query("xa commit 'x1'");
      expect(await box.mailbox.writers()).toEqual([]);
    });
  });

  describe('marks', () => {
    it('are written although a deadlock with the owner undoes the first try', async () => {
      const box = await createMariadbMailbox();
      await box.owner.query("insert into CMINMSGS (CMINMSGS_CLOB_MSG) select 'x' from seq_1_to_300");
      // The owner has changed more rows, so that the server chooses our statement as the victim.
      await box.owner.beginTransaction();
      await box.owner.query("update CMINMSGS set CMINMSGS_STATUS = 'SEEN' where CMINMSGS_ID >= 2");
      const marking = box.mailbox.mark([1n, 2n]);
      const admin = await box.server.session();
      await until('our statement to wait', async () => {
        const [[waits]] = await admin.query<RowDataPacket[]>(
          "show status like 'Innodb_row_lock_current_waits'",
        );
        return Number(waits?.['Value']) > 0 ? true : null;
      });
      await box.owner.query("update CMINMSGS set CMINMSGS_STATUS = 'SEEN' where CMINMSGS_ID = 1");
      const [[deadlocks]] = await admin.query<RowDataPacket[]>("show status like 'Innodb_deadlocks'");
      expect(Number(deadlocks?.['Value'])).toBeGreaterThan(0);
      await box.owner.commit();
      expect(await marking).toEqual(
        new Map([
          [1n, 'marked'],
          [2n, 'marked'],
        ]),
      );
    });

    it('take no lock beside their rows: an insert into a gap does not wait', async () => {
      const box = await createMariadbMailbox();
      for (const id of [1n, 9n]) await box.insertAt(id, 'x');
      const session = await box.server.session(box.database);
      await session.query('set session transaction isolation level repeatable read');
      const mailbox = await box.reopen({ timeoutMs: 1_000 });
      await session.beginTransaction();
      await session.query('insert into CMINMSGS (CMINMSGS_ID) values (5)');
      expect(await mailbox.mark([1n, 4n, 6n, 9n])).toEqual(
        new Map([
          [1n, 'marked'],
          [4n, 'missing'],
          [6n, 'missing'],
          [9n, 'marked'],
        ]),
      );
      await session.rollback();
    });
  });

  it('the server itself ends a statement at the deadline, so that none takes effect long after', async () => {
    const box = await createMariadbMailbox();
    const mailbox = await box.reopen({ timeoutMs: 500 });
    await mailbox.rowsAfter(0n, 1);
    const unblock = await box.blockTable();
    const error: unknown = await mailbox.insert('too late').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Outage);
    // ER_STATEMENT_TIMEOUT, not our own deadline, behind which the statement would go on waiting.
    expect(serverErrorNumber((error as Outage).cause)).toBe(1969);
    await unblock();
    expect(await box.mailbox.rowsAfter(0n, 9)).toEqual([]);
  });

  it('half-open: those in use, those opened meanwhile and those who wait for one all end in time', async () => {
    const box = await createMariadbMailbox();
    const proxy = await startProxy(targetOf(box.options.url));
    const mailbox = await box.reopen({ url: through(box.options.url, proxy), timeoutMs: 1_000 });
    await mailbox.rowsAfter(0n, 1);
    proxy.silence();
    const started = performance.now();
    const calls = Array.from({ length: 15 }, () => mailbox.rowsAfter(0n, 1));
    const results = await Promise.allSettled(calls);
    expect(performance.now() - started).toBeLessThan(5_000);
    for (const result of results) {
      expect(result).toMatchObject({ status: 'rejected', reason: expect.any(Outage) as Outage });
    }
    const last = mailbox.rowsAfter(0n, 1).catch((error: unknown) => error);
    await mailbox.close();
    expect(await last).toBeInstanceOf(Error);
  });
});
