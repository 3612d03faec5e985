import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openMailbox } from '../../src/mailbox/open.ts';
import type { Mailbox } from '../../src/mailbox/port.ts';
import { play, type WritableMailbox } from '../../src/simulator/writer.ts';
import type { Step } from '../../src/simulator/steps.ts';
import { createTestDatabase, postgresMissing, type TestDatabase } from '../kit/postgres.ts';
import { dialectFor, stepsOf, written } from './kit.ts';

const HOUR_MS = 3_600_000;

/** Notes when each ID was begun and committed. */
function witnessOf(mailbox: Mailbox) {
  const commits: { id: bigint; begun: number; at: number }[] = [];
  const committed = <T extends bigint>(ids: readonly T[], begun: number): readonly T[] => {
    for (const id of ids) commits.push({ id, begun, at: performance.now() });
    return ids;
  };
  const witness: WritableMailbox = {
    insert: async (text) => {
      const begun = performance.now();
      const id = await mailbox.insert(text);
      committed([id], begun);
      return id;
    },
    insertAll: async (texts) => {
      const begun = performance.now();
      return committed(await mailbox.insertAll(texts), begun);
    },
    openInsert: async (text) => {
      const begun = performance.now();
      const insert = await mailbox.openInsert(text);
      const commit = async () => {
        await insert.commit();
        committed([insert.id], begun);
      };
      return { ...insert, commit };
    },
  };
  return { witness, commits };
}

describe.skipIf(postgresMissing !== null)('the writer', () => {
  let database: TestDatabase;
  let mailbox: Mailbox;

  beforeEach(async () => {
    database = await createTestDatabase({ blank: true });
    const { mailbox: names } = await dialectFor();
    mailbox = await openMailbox({ url: database.url, names, timeoutMs: 10_000 });
    await mailbox.init();
  });

  afterEach(async () => {
    await mailbox.close();
    await database.drop();
  });

  /** Texts by ID, as others see them now. */
  async function rows(): Promise<ReadonlyMap<bigint, string>> {
    const ids = (await mailbox.rowsAfter(0n, 10_000)).map(({ id }) => id);
    const texts = await mailbox.texts(ids);
    return new Map(ids.map((id) => [id, texts.get(id) ?? '']));
  }

  it('gives each step one ID in order, and leaves a gap for each hole', async () => {
    const steps = stepsOf({ count: 400, holes: 0.05, poison: 0.05, duplicates: 0.05 });
    const played = await play({ mailbox, steps, rate: 0, maxCommitDelayMs: HOUR_MS });
    expect(played).toMatchObject({ messages: 400, holes: 20, late: 0, held: 0, stopped: false });
    const expected = steps.flatMap((step, index): [bigint, string][] =>
      step.kind === 'hole' ? [] : [[BigInt(index + 1), step.text]],
    );
    expect(await rows()).toEqual(new Map(expected));
    expect(played.firstId).toBe(1n);
    expect(played.lastId).toBe(BigInt(steps.length));
  });

  it('commits late ones after later IDs, those beyond the delay longer than it', async () => {
    const steps = stepsOf({ count: 300, late: 0.02 });
    const { witness, commits } = witnessOf(mailbox);
    const played = await play({ mailbox: witness, steps, rate: 0, maxCommitDelayMs: 1_500 });
    expect(played).toMatchObject({ messages: 300, late: 6, held: 0 });
    expect((await rows()).size).toBe(300);
    const order = commits.map(({ id }) => id);
    expect(order).toHaveLength(300);
    steps.forEach((step, index) => {
      if (step.kind !== 'late') return;
      const place = order.indexOf(BigInt(index + 1));
      const later = order.slice(0, place).filter((id) => id > BigInt(index + 1));
      expect(later.length, `ID ${index + 1}`).toBeGreaterThanOrEqual(step.after);
      const open = (commits[place]?.at ?? 0) - (commits[place]?.begun ?? 0);
      expect(open >= 1_500, `ID ${index + 1} was open for ${open} ms`).toBe(step.beyondDelay);
    });
  });

  it('commits what is open at once when it is stopped, and begins nothing more', async () => {
    const [message] = written(stepsOf({ count: 1 }));
    const note = { about: 'operation' } as const;
    const text = message?.text ?? '';
    const steps: Step[] = [
      { kind: 'late', text, note, beyondDelay: true, after: 1 },
      { kind: 'message', text, note },
      { kind: 'message', text, note },
    ];
    const stop = new AbortController();
    const opened: Pick<Mailbox, 'insert' | 'insertAll' | 'openInsert'> = {
      insert: (one) => mailbox.insert(one),
      insertAll: (all) => mailbox.insertAll(all),
      openInsert: async (one) => {
        const insert = await mailbox.openInsert(one);
        stop.abort();
        return insert;
      },
    };
    // The second message would come after 1,000 s.
    const pace = { rate: 0.001, maxCommitDelayMs: HOUR_MS, signal: stop.signal };
    const played = await play({ mailbox: opened, steps, ...pace });
    expect(played).toMatchObject({ messages: 1, late: 1, held: 0, stopped: true });
    expect([...(await rows()).keys()]).toEqual([1n]);
  });

  it('keeps the pace asked for', async () => {
    const begun = performance.now();
    await play({ mailbox, steps: stepsOf({ count: 40 }), rate: 100, maxCommitDelayMs: HOUR_MS });
    // 39 pauses of 10 ms.
    expect(performance.now() - begun).toBeGreaterThanOrEqual(380);
  });

  it('holds no more open than it may', async () => {
    const steps = stepsOf({ count: 300, late: 0.04 });
    let open = 0;
    let most = 0;
    const counting: WritableMailbox = {
      insert: (text) => mailbox.insert(text),
      insertAll: (texts) => mailbox.insertAll(texts),
      openInsert: async (text) => {
        most = Math.max(most, ++open);
        const insert = await mailbox.openInsert(text);
        const commit = async () => {
          await insert.commit();
          open -= 1;
        };
        return { ...insert, commit };
      },
    };
    const played = await play({ mailbox: counting, steps, rate: 0, maxCommitDelayMs: 10, maxHeld: 2 });
    expect(played).toMatchObject({ messages: 300, late: 12 });
    expect(most).toBe(2);
    expect((await rows()).size).toBe(300);
  });

  it('rolls back what is open where the mailbox fails', async () => {
    const steps = stepsOf({ count: 100, late: 0.05 });
    const gone = () => Promise.reject(new Error('mailbox gone'));
    const failing = { insert: gone, insertAll: gone, openInsert: (text: string) => mailbox.openInsert(text) };
    const late = steps.filter(({ kind }) => kind === 'late');
    const first = late.slice(0, 1);
    const [message] = steps.filter(({ kind }) => kind === 'message');
    const broken = [...first, ...(message === undefined ? [] : [message])];
    await expect(
      play({ mailbox: failing, steps: broken, rate: 0, maxCommitDelayMs: HOUR_MS }),
    ).rejects.toThrow('mailbox gone');
    expect((await rows()).size).toBe(0);
    expect(await mailbox.writers()).toEqual([]);
  });
});
