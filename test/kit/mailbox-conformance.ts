/** What every mailbox adapter must do; run it with a fixture for each database. */
import { describe, expect, it } from 'vitest';
import { MAX_ID, msgId } from '../../src/domain/ids.ts';
import type { Mailbox } from '../../src/mailbox/port.ts';
import { Outage } from '../../src/runtime/outage.ts';
import type { MailboxFixture } from './mailbox.ts';
import { startProxy, targetOf, through } from './tcp-proxy.ts';

const TWO_53 = 9_007_199_254_740_992n;

export interface Conformance {
  /** An empty mailbox, as `mailbox init` makes it. */
  readonly create: () => Promise<MailboxFixture>;
  readonly url: (fixture: MailboxFixture) => string;
  /** Whether this adapter can see living writers. */
  readonly seesWriters: boolean;
}

/** Defines the tests. */
export function mailboxConformance({ create, url, seesWriters }: Conformance): void {
  const range = (from: bigint, to: bigint) => ({ from: msgId(from), to: msgId(to) });

  describe('reads', () => {
    it('gives rows above an ID in order, with length, receipt and mark, and no further than the limit', async () => {
      const box = await create();
      await box.insertAt(3n, '航班 <备注/>', { received: null });
      await box.insertAt(1n, 'one');
      await box.insertAt(2n, null, { processed: '2026-03-14T00:00:00Z' });
      await box.insertAt(4n, '');
      const rows = await box.mailbox.rowsAfter(0n, 3);
      expect(rows[0]?.receivedAt).toMatch(/^2026-03-14T01:02:03\.50*Z$/);
      expect(rows.map(({ id, bytes, marked }) => ({ id, bytes, marked }))).toEqual([
        { id: 1n, bytes: 3, marked: false },
        { id: 2n, bytes: null, marked: true },
        { id: 3n, bytes: 6 + 1 + 9, marked: false },
      ]);
      expect(rows[2]?.receivedAt).toBeNull();
      expect(await box.mailbox.rowsAfter(3n, 10)).toMatchObject([{ id: 4n, bytes: 0 }]);
      expect(await box.mailbox.rowsAfter(4n, 10)).toEqual([]);
    });

    it('reads texts whole: NULL, Chinese, four-byte characters, eight megabytes, missing rows absent', async () => {
      const box = await create();
      const large = '机'.repeat(2_800_000);
      await box.insertAt(1n, null);
      await box.insertAt(2n, '备注：延误 𠮷 & "引号" \\ \r\n');
      await box.insertAt(3n, large);
      const texts = await box.mailbox.texts([1n, 2n, 3n, 4n]);
      expect([...texts.keys()].sort()).toEqual([1n, 2n, 3n]);
      expect(texts.get(1n)).toBeNull();
      expect(texts.get(2n)).toBe('备注：延误 𠮷 & "引号" \\ \r\n');
      expect(texts.get(3n) === large).toBe(true);
      expect((await box.mailbox.rowsIn([range(3n, 3n)]))[0]?.bytes).toBe(8_400_000);
      expect(await box.mailbox.texts([])).toEqual(new Map());
    });

    it('carries IDs beyond 2^53 without rounding', async () => {
      const box = await create();
      const ids = [TWO_53, TWO_53 + 1n, TWO_53 + 3n, MAX_ID];
      for (const id of ids) await box.insertAt(id, 'x');
      expect((await box.mailbox.rowsAfter(TWO_53 - 1n, 9)).map(({ id }) => id)).toEqual(ids);
      expect((await box.mailbox.lookAhead(TWO_53, 9)).gaps).toEqual([
        range(TWO_53 + 2n, TWO_53 + 2n),
        range(TWO_53 + 4n, MAX_ID - 1n),
      ]);
      expect(await box.mailbox.bounds()).toEqual({ min: TWO_53, max: MAX_ID });
      expect([...(await box.mailbox.texts([TWO_53 + 1n])).keys()]).toEqual([TWO_53 + 1n]);
      expect(await box.mailbox.mark([TWO_53 + 1n])).toEqual(new Map([[TWO_53 + 1n, 'marked']]));
      expect(await box.markOf(TWO_53)).toBeNull();
    });

    it('knows its bounds, and none where it is empty', async () => {
      const box = await create();
      expect(await box.mailbox.bounds()).toBeNull();
      expect(await box.mailbox.gapsUpTo(10n)).toEqual([]);
      expect(await box.mailbox.lookAhead(0n, 10)).toEqual({ gaps: [], through: null, rows: 0 });
      await box.insertAt(5n, 'x');
      await box.insertAt(9n, 'x');
      expect(await box.mailbox.bounds()).toEqual({ min: 5n, max: 9n });
      expect(await box.mailbox.gapsUpTo(9n)).toEqual([range(6n, 8n)]);
      expect(await box.mailbox.gapsUpTo(7n)).toEqual([range(6n, 7n)]);
    });
  });

  describe('look-ahead', () => {
    it('gives every gap that a row follows, however wide, and the highest ID seen', async () => {
      const box = await create();
      for (const id of [2n, 3n, 7n, 5_000_000_000n, 5_000_000_001n]) await box.insertAt(id, 'x');
      expect(await box.mailbox.lookAhead(0n, 100)).toEqual({
        gaps: [range(1n, 1n), range(4n, 6n), range(8n, 4_999_999_999n)],
        through: 5_000_000_001n,
        rows: 5,
      });
      expect(await box.mailbox.lookAhead(0n, 3)).toEqual({
        gaps: [range(1n, 1n), range(4n, 6n)],
        through: 7n,
        rows: 3,
      });
      expect(await box.mailbox.lookAhead(7n, 1)).toMatchObject({ gaps: [range(8n, 4_999_999_999n)] });
    });

    it('gives one gap per missing ID where IDs go by two', async () => {
      const box = await create();
      for (let id = 2n; id <= 40n; id += 2n) await box.insertAt(id, 'x');
      const { gaps, rows } = await box.mailbox.lookAhead(0n, 100);
      expect(rows).toBe(20);
      expect(gaps).toEqual(Array.from({ length: 20 }, (_, n) => range(BigInt(2 * n + 1), BigInt(2 * n + 1))));
    });

    it('re-reads ranges: only what is there now, ascending over all ranges, within the limit', async () => {
      const box = await create();
      for (const id of [1n, 4n, 5n, 9n, 12n]) await box.insertAt(id, 'x');
      const ids = async (limit?: number) =>
        (await box.mailbox.rowsIn([range(2n, 4n), range(6n, 8n), range(9n, MAX_ID)], limit)).map(
          ({ id }) => id,
        );
      expect(await ids()).toEqual([4n, 9n, 12n]);
      expect(await ids(2)).toEqual([4n, 9n]);
      await box.insertAt(7n, 'late');
      await box.remove(4n);
      expect(await ids()).toEqual([7n, 9n, 12n]);
      expect(await box.mailbox.rowsIn([])).toEqual([]);
    });

    it('does not see what is not committed, and never what was rolled back', async () => {
      const box = await create();
      const [held, dropped] = [await box.begin(), await box.begin()];
      await held.insertAt(1n, 'held');
      await dropped.insertAt(2n, 'dropped');
      await box.insertAt(3n, 'x');
      expect(await box.mailbox.lookAhead(0n, 9)).toMatchObject({ gaps: [range(1n, 2n)], through: 3n });
      await held.commit();
      await dropped.rollback();
      expect(await box.mailbox.lookAhead(0n, 9)).toMatchObject({ gaps: [range(2n, 2n)], through: 3n });
      expect((await box.mailbox.rowsIn([range(1n, 2n)])).map(({ id }) => id)).toEqual([1n]);
    });
  });

  describe('writers', () => {
    it.runIf(seesWriters)('appear with an open insert and vanish with it; readers are none', async () => {
      const box = await create();
      expect(await box.mailbox.writers()).toEqual([]);
      const first = await box.mailbox.openInsert('held');
      const seen = (await box.mailbox.writers()) ?? [];
      expect(seen.length).toBeGreaterThan(0);
      expect(seen.join('')).not.toMatch(/\s/);
      const second = await box.mailbox.openInsert('held too');
      const both = new Set(await box.mailbox.writers());
      expect(seen.every((token) => both.has(token))).toBe(true);
      expect(both.size).toBeGreaterThan(seen.length);
      await first.commit();
      const left = new Set(await box.mailbox.writers());
      expect(left.size).toBeGreaterThan(0);
      expect(seen.some((token) => left.has(token))).toBe(false);
      await second.rollback();
      expect(await box.mailbox.writers()).toEqual([]);
    });
  });

  describe('marks', () => {
    it('are set once by the mailbox clock, never overwritten, and missing rows are told', async () => {
      const box = await create();
      await box.insertAt(1n, 'x');
      await box.insertAt(2n, 'x', { processed: '2020-01-01T00:00:00Z' });
      const before = await box.markOf(2n);
      expect(await box.mailbox.mark([1n, 2n, 3n, 1n])).toEqual(
        new Map([
          [1n, 'marked'],
          [2n, 'already-marked'],
          [3n, 'missing'],
        ]),
      );
      expect(await box.markOf(2n)).toBe(before);
      expect(Math.abs(await box.markAge(1n))).toBeLessThan(60);
      const first = await box.markOf(1n);
      expect(await box.mailbox.mark([1n])).toEqual(new Map([[1n, 'already-marked']]));
      expect(await box.markOf(1n)).toBe(first);
      expect(await box.mailbox.mark([])).toEqual(new Map());
    });

    it('by two at once end with one mark each', async () => {
      const box = await create();
      const ids = Array.from({ length: 50 }, (_, n) => BigInt(n + 1));
      for (const id of ids) await box.insertAt(id, 'x');
      const results = await Promise.all([box.mailbox.mark(ids), box.mailbox.mark(ids)]);
      for (const id of ids) {
        expect(results.map((result) => result.get(id)).sort()).toEqual(['already-marked', 'marked']);
      }
    });
  });

  describe('inserts', () => {
    it('give ascending IDs in the order given, all or none', async () => {
      const box = await create();
      const texts = Array.from({ length: 1_200 }, (_, n) => `text ${String(n)}`);
      const ids = await box.mailbox.insertAll(texts);
      expect([...ids].sort((a, b) => (a < b ? -1 : 1))).toEqual(ids);
      const stored = await box.mailbox.texts(ids);
      expect(ids.map((id) => stored.get(id))).toEqual(texts);
      // A NUL byte is refused by the database somewhere in the second statement: nothing of it stays.
      const poisoned = texts.map((text, n) => (n === 1_100 ? 'a\0b' : text));
      const refused = await box.mailbox.insertAll(poisoned).then(
        () => false,
        () => true,
      );
      if (refused) expect(await box.mailbox.rowsAfter(ids.at(-1)!, 10)).toEqual([]);
      const one = await box.mailbox.insert('single');
      expect((await box.mailbox.texts([one])).get(one)).toBe('single');
      expect((await box.mailbox.rowsIn([{ from: one, to: one }]))[0]?.receivedAt).not.toBeNull();
    });

    it('left open keep their ID: visible after commit, a hole after rollback', async () => {
      const box = await create();
      const [late, never] = [await box.mailbox.openInsert('late'), await box.mailbox.openInsert('never')];
      const after = await box.mailbox.insert('after');
      expect([late.id, never.id, after]).toEqual([1n, 2n, 3n]);
      expect((await box.mailbox.rowsAfter(0n, 9)).map(({ id }) => id)).toEqual([3n]);
      await never.rollback();
      await late.commit();
      expect((await box.mailbox.rowsAfter(0n, 9)).map(({ id }) => id)).toEqual([1n, 3n]);
    });
  });

  describe('outbound table', () => {
    it('takes messages with their route and the time, and gives them back above an ID', async () => {
      const box = await create();
      expect(await box.mailbox.withOutbound((outbound) => outbound.highest())).toBe(0n);
      const ids = await box.mailbox.withOutbound(async (outbound) => {
        const first = await outbound.insert('请求 <RQST/> 𠮷', 'AODB');
        const second = await outbound.insert('two', null);
        expect((await outbound.rowsAfter(first, 9)).map(({ id }) => id)).toEqual([second]);
        expect(await outbound.highest()).toBe(second);
        return [first, second];
      });
      const rows = await box.outboundRows();
      expect(rows.map(({ id, text, routing }) => [id, text, routing])).toEqual([
        [ids[0], '请求 <RQST/> 𠮷', 'AODB'],
        [ids[1], 'two', null],
      ]);
      for (const { aged } of rows) expect(Math.abs(aged)).toBeLessThan(60);
      await box.mailbox.withOutbound(async (outbound) => {
        expect(await outbound.rowsAfter(0n, 1)).toEqual([{ id: ids[0], text: '请求 <RQST/> 𠮷' }]);
        expect(await outbound.rowsAfter(ids[1]!, 9)).toEqual([]);
      });
    });

    it('is worked on by one session at a time, and the next sees what the one before inserted', async () => {
      const box = await create();
      const other = await box.reopen({});
      const hasty = await box.reopen({ timeoutMs: 1_000 });
      await hasty.withOutbound((outbound) => outbound.highest());
      let release: () => void = () => undefined;
      const held = new Promise<void>((resolve) => (release = resolve));
      let entered: () => void = () => undefined;
      const inside = new Promise<void>((resolve) => (entered = resolve));
      const writing = box.mailbox.withOutbound(async (outbound) => {
        entered();
        await held;
        return outbound.insert('late', null);
      });
      await inside;
      let seen: readonly bigint[] | null = null;
      const looking = other.withOutbound(async (outbound) => {
        seen = (await outbound.rowsAfter(0n, 9)).map(({ id }) => id);
      });
      // Whoever waits no longer than a moment is told so, and is no obstacle afterwards.
      await expect(hasty.withOutbound((outbound) => outbound.highest())).rejects.toThrow(Outage);
      expect(seen).toBeNull();
      release();
      const id = await writing;
      await looking;
      expect(seen).toEqual([id]);
      expect(await hasty.withOutbound((outbound) => outbound.highest())).toBe(id);
    });

    it('keeps nothing of work that failed, whatever failed it, and is free again', async () => {
      const box = await create();
      for (const error of [new Error('ours'), new Outage('database', new Error('another system'))]) {
        const failing = box.mailbox.withOutbound(async (outbound) => {
          await outbound.insert('never', null);
          throw error;
        });
        await expect(failing).rejects.toBe(error);
      }
      expect(await box.mailbox.withOutbound((outbound) => outbound.rowsAfter(0n, 9))).toEqual([]);
      expect(await box.outboundRows()).toEqual([]);
    });
  });

  describe('outages', () => {
    const calls: readonly (readonly [string, (mailbox: Mailbox) => Promise<unknown>])[] = [
      ['rowsAfter', (mailbox) => mailbox.rowsAfter(0n, 1)],
      ['lookAhead', (mailbox) => mailbox.lookAhead(0n, 1)],
      ['rowsIn', (mailbox) => mailbox.rowsIn([range(1n, 2n)])],
      ['texts', (mailbox) => mailbox.texts([1n])],
      ['bounds', (mailbox) => mailbox.bounds()],
      ['writers', (mailbox) => mailbox.writers()],
      ['mark', (mailbox) => mailbox.mark([1n])],
      ['insert', (mailbox) => mailbox.insert('x')],
      ['insertAll', (mailbox) => mailbox.insertAll(['x'])],
      ['openInsert', (mailbox) => mailbox.openInsert('x')],
      ['withOutbound', (mailbox) => mailbox.withOutbound((outbound) => outbound.insert('x', null))],
    ];

    it.each(calls)('%s throws Outage where the mailbox cannot be reached', async (_, call) => {
      const box = await create();
      const proxy = await startProxy(targetOf(url(box)));
      const mailbox = await box.reopen({ url: through(url(box), proxy), timeoutMs: 1_000 });
      await mailbox.rowsAfter(0n, 1);
      proxy.refuse();
      proxy.cut();
      await expect(call(mailbox)).rejects.toThrow(Outage);
      expect(await mailbox.probe()).toBe(false);
      proxy.heal();
      await expect.poll(() => mailbox.probe(), { timeout: 5_000 }).toBe(true);
      await expect(call(mailbox)).resolves.toBeDefined();
    });

    it('a half-open connection ends at the deadline and is not used again', async () => {
      const box = await create();
      await box.insertAt(1n, 'x');
      const proxy = await startProxy(targetOf(url(box)));
      const mailbox = await box.reopen({ url: through(url(box), proxy), timeoutMs: 300 });
      await mailbox.rowsAfter(0n, 1);
      proxy.silence();
      const started = performance.now();
      await expect(mailbox.rowsAfter(0n, 1)).rejects.toThrow(Outage);
      expect(performance.now() - started).toBeLessThan(3_000);
      proxy.heal();
      expect(await mailbox.rowsAfter(0n, 1)).toHaveLength(1);
    });

    it('a table that does not answer ends at the deadline, and the mailbox works again afterwards', async () => {
      const box = await create();
      const mailbox = await box.reopen({ timeoutMs: 300 });
      await mailbox.rowsAfter(0n, 1);
      const unblock = await box.blockTable();
      await expect(mailbox.rowsAfter(0n, 1)).rejects.toThrow(Outage);
      await expect(mailbox.mark([1n])).rejects.toThrow(Outage);
      expect(await mailbox.probe()).toBe(true);
      await unblock();
      await expect.poll(() => mailbox.rowsAfter(0n, 1).catch(() => null)).toEqual([]);
    });
  });

  describe('set-up', () => {
    it('init makes a mailbox of ours once and never touches tables that are there', async () => {
      const box = await create();
      expect(await box.mailbox.isOurs()).toBe(true);
      await box.insertAt(1n, 'kept');
      await expect(box.mailbox.init()).rejects.toThrow(/is there already/);
      expect((await box.mailbox.texts([1n])).get(1n)).toBe('kept');
    });

    it('check says ok line by line, and what is missing by its configuration key', async () => {
      const box = await create();
      expect((await box.mailbox.check()).filter(({ result }) => result !== 'ok')).toEqual([]);
    });
  });
}
