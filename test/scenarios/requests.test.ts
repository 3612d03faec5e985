/**
 * Requests, their answers and error reports against a scripted upstream, in both mailbox databases. Each behaviour ends
 * as specified, and whatever breaks a send off leaves exactly one row in COUTMSGS.
 */
import { afterAll, describe, expect, it } from 'vitest';
import type { Mailbox } from '../../src/mailbox/port.ts';
import { Outage } from '../../src/runtime/outage.ts';
import type { Behaviour } from '../../src/simulator/upstream.ts';
import { createMariadbMailbox, mariadbMissing } from '../kit/mariadb.ts';
import { createTestMailbox, type MailboxFixture } from '../kit/mailbox.ts';
import { createTestDatabase, postgresMissing, type TestDatabase } from '../kit/postgres.ts';
import { createRequestRig, POINTS, scheduleRecord, type RequestRig } from '../kit/requests.ts';
import { xml } from '../kit/messages.ts';

const DAY = '2026-03-14';
const MINUTE_MS = 60_000;

const MAILBOXES: readonly {
  readonly kind: string;
  readonly missing: string | null;
  readonly create: () => Promise<MailboxFixture>;
}[] = [
  {
    kind: 'PostgreSQL',
    missing: postgresMissing,
    create: async () => createTestMailbox((await createTestDatabase({ blank: true })).url),
  },
  {
    kind: 'MariaDB',
    missing: postgresMissing ?? mariadbMissing,
    create: async () => {
      const owner = await createMariadbMailbox();
      // With the least grants, as in production.
      return { ...owner, mailbox: await owner.reopen({ url: await owner.leastUser() }) };
    },
  },
];

const told: string[][] = [['mailbox', 'case', 'expected', 'found']];
afterAll(() => {
  const widths = told[0]?.map((_, column) => Math.max(...told.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = told.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  process.stdout.write(`\n${lines.join('\n')}\n\n`);
});

describe.each(MAILBOXES)('requests over $kind', ({ kind, missing, ...mailboxes }) => {
  let shared: Promise<readonly [MailboxFixture, TestDatabase]> | null = null;
  const check = (name: string, expected: string, found: string) => {
    told.push([kind, name, expected, found]);
    expect(found).toBe(expected);
  };
  const rig = async () => {
    shared ??= Promise.all([mailboxes.create(), createTestDatabase()]);
    return createRequestRig(...(await shared));
  };
  const verdicts = async (on: RequestRig) =>
    (
      await on.query<{ told: string }>(
        `select concat_ws(' ', state, error_class, coalesce(reason, last_error)) as told
         from proc_state order by msg_id`,
      )
    ).map((row) => row.told);
  /** Requests and messages, as one line. */
  const parts = async (on: RequestRig) => [...(await on.requests()), ...(await verdicts(on))];
  const standing = async (on: RequestRig) => (await parts(on)).join('; ');

  describe.skipIf(missing !== null)('answers', () => {
    const ONCE = { answer: 'once', delayMs: 0, echo: false } as const;
    const GONE = 'EXPIRED timeout in COUTMSGS';
    const LATE = 'SKIPPED no-open-request';
    const cases: readonly {
      readonly name: string;
      readonly behaviour: Behaviour;
      readonly expected: string;
      readonly rtype?: string;
      /** Whether flights and reference data stay untouched. */
      readonly untouched?: boolean;
    }[] = [
      {
        name: 'answered, SEQN echoed',
        behaviour: { ...ONCE, echo: true },
        expected: 'DONE exact in COUTMSGS; SUCCEEDED',
      },
      { name: 'answered, no echo', behaviour: ONCE, expected: 'DONE downgraded in COUTMSGS; SUCCEEDED' },
      {
        name: 'answered after 4 of 5 minutes',
        behaviour: { ...ONCE, delayMs: 4 * MINUTE_MS },
        expected: 'DONE downgraded in COUTMSGS; SUCCEEDED',
      },
      {
        name: 'answered after 6 of 5 minutes',
        behaviour: { ...ONCE, delayMs: 6 * MINUTE_MS, echo: true },
        expected: `${GONE}; ${LATE}`,
        untouched: true,
      },
      {
        name: 'answered twice',
        behaviour: { ...ONCE, answer: 'twice', echo: true },
        expected: `DONE exact in COUTMSGS; SUCCEEDED; ${LATE}`,
      },
      {
        name: 'answered for the wrong day',
        behaviour: { ...ONCE, answer: 'wrong-day' },
        expected: `${GONE}; ${LATE}`,
        untouched: true,
      },
      { name: 'never answered', behaviour: { ...ONCE, answer: 'never' }, expected: GONE, untouched: true },
      {
        name: 'answered with a wrong RECS',
        behaviour: { ...ONCE, answer: 'wrong-recs', echo: true },
        expected: `${GONE}; DEAD PROTOCOL recs-mismatch:3/2`,
        untouched: true,
      },
      {
        name: 'DTTM 29 s before it was sent',
        behaviour: { ...ONCE, clockOffMs: -29_000 },
        expected: 'DONE downgraded in COUTMSGS; SUCCEEDED',
      },
      {
        name: 'DTTM 31 s before it was sent',
        behaviour: { ...ONCE, clockOffMs: -31_000 },
        expected: `${GONE}; ${LATE}`,
        untouched: true,
      },
      {
        name: 'reference data, SEQN echoed',
        rtype: 'ABDG',
        behaviour: { ...ONCE, echo: true },
        expected: 'DONE exact in COUTMSGS; SUCCEEDED',
      },
      {
        name: 'reference data, late',
        rtype: 'ABDG',
        behaviour: { ...ONCE, delayMs: 6 * MINUTE_MS },
        expected: `${GONE}; ${LATE}`,
        untouched: true,
      },
    ];

    it.each(cases)('$name', async ({ name, behaviour, expected, rtype, untouched }) => {
      const on = await rig();
      const upstream = on.upstream(() => behaviour);
      // What the answer is about is there already, as it was: an answer that is applied changes it.
      await on.box.mailbox.insert(xml('SCHD', 'DNLD', KNOWN.schedule));
      await on.box.mailbox.insert(xml('ABDG', 'DNLD', KNOWN.reference));
      await on.pump();
      expect(await standing(on)).toBe('SUCCEEDED; SUCCEEDED');
      await on.register(rtype ?? 'SCHD', rtype === undefined ? DAY : null);
      await on.round();
      const before = await on.digest();
      let open = '';
      for (let minute = 0; minute < 8; minute++) {
        await upstream.poll();
        await on.pump();
        await on.round();
        if (minute === 1) open = (await on.requests())[0] ?? '';
        on.clock.advance(MINUTE_MS);
      }
      // What does not answer it leaves it waiting until its time is over.
      if (expected.startsWith('EXPIRED')) expect(open).toBe('SENT in COUTMSGS');
      const [request = '', , , ...answers] = await parts(on);
      check(name, expected, [request, ...answers].join('; '));
      expect((await on.digest()) === before).toBe(untouched === true);
    });

    it('one that comes before SENT was written is accepted, and the outbound ID is filled in later', async () => {
      const on = await rig();
      const upstream = on.upstream(() => ({ answer: 'once', delayMs: 0, echo: false }));
      await on.register('SCHD', DAY);
      await on.dieAt('after the commit of the insert, its answer lost');
      await upstream.poll();
      await on.pump();
      const before = await standing(on);
      on.clock.advance(10_000);
      await on.round();
      check(
        'answered before SENT was written',
        'DONE downgraded; SUCCEEDED → DONE downgraded in COUTMSGS; SUCCEEDED',
        `${before} → ${await standing(on)}`,
      );
    });
  });

  describe.skipIf(missing !== null)('registrations', () => {
    it('of one kind and day at once leave one open and the others expired, and nobody is refused', async () => {
      const on = await rig();
      const ids = await Promise.all(Array.from({ length: 4 }, () => on.register('SCHD', DAY)));
      expect(new Set(ids).size).toBe(4);
      await on.register('SCHD', '2026-03-15');
      const found = (await on.requests()).toSorted().join('; ');
      const expired = Array.from({ length: 3 }, () => 'EXPIRED replaced').join('; ');
      check('four requests of one day at once, one of another', `${expired}; PENDING; PENDING`, found);
    });

    it('one that replaces a request that is being written leaves each with its own row', async () => {
      const on = await rig();
      await on.register('SCHD', DAY);
      await on.dieAt('after the commit of the insert, its answer lost');
      await on.register('SCHD', DAY);
      await on.round();
      on.clock.advance(10_000);
      await on.round();
      const rows = await on.outbound();
      check(
        'replaced while it was being written',
        'EXPIRED replaced in COUTMSGS; SENT in COUTMSGS; 2 rows',
        `${(await on.requests()).join('; ')}; ${String(rows.length)} rows`,
      );
    });

    it('of the service itself happen at its start, and once a day from the time set', async () => {
      const on = await rig();
      const settings = { onStart: ['today', 'tomorrow', 'ABDG'], dailyAt: '06:30' };
      await on.round(settings);
      const texts = async () => (await on.outbound()).map(({ text, routing }) => [routing, payloadOf(text)]);
      const atStart = [
        ['AODB', '<FROM>14MAR260000</FROM><UNTL>14MAR262359</UNTL>'],
        ['AODB', '<FROM>15MAR260000</FROM><UNTL>15MAR262359</UNTL>'],
        ['REF', '<RTYP>ABDG</RTYP>'],
      ];
      expect(await texts()).toEqual(atStart);
      const daily = { dailyAt: '06:30' };
      await on.round(daily);
      on.clock.advance(30 * MINUTE_MS);
      await on.round(daily);
      await on.round(daily);
      on.clock.advance(60 * MINUTE_MS);
      await on.round(daily);
      expect(await texts()).toEqual([...atStart, atStart[1]]);
      on.clock.advance(24 * 60 * MINUTE_MS);
      await on.round(daily);
      expect((await texts()).at(-1)?.[1]).toContain('<FROM>16MAR260000</FROM>');
    });

    it('nothing is sent in shadow mode', async () => {
      const on = await rig();
      await on.register('SCHD', DAY);
      await on.round({ shadow: true, onStart: ['today'] });
      expect(await on.requests()).toEqual(['PENDING']);
      expect(await on.outbound()).toEqual([]);
    });
  });

  describe.skipIf(missing !== null)('exactly one row', () => {
    const payloads = {
      request: async (on: RequestRig) => {
        await on.register('SCHD', DAY);
      },
      report: async (on: RequestRig) => {
        await on.box.mailbox.insert(xml('SCHD', 'DNLD', '<SCHD><RECS>7</RECS></SCHD>', 77));
        await on.pump();
      },
    } as const;
    const SENT = {
      request: "select count(*)::integer as sent from req_track where state = 'SENT' and out_id is not null",
      report: "select count(*)::integer as sent from error_report where state = 'SENT'",
    } as const;
    /** Old rows that carry our SEQN 1, 2 and 3, and a counter that comes to them next. */
    const wrap = async (on: RequestRig) => {
      for (const sequence of [1, 2, 3]) {
        const header = { sender: 'MSGX', sequence: String(sequence), dttm: '2026-01-01T00:00:00+08:00' };
        const text = on.dialect.encode(header, { kind: 'reference-request', rtype: 'OLD' });
        await on.box.mailbox.withOutbound((outbound) => outbound.insert(text, null));
      }
      await on.query('update outbound_counter set last = 999999');
    };
    /** New rows, their SEQN and whether the record says SENT. */
    const ended = async (on: RequestRig, what: keyof typeof SENT) => {
      const rows = (await on.outbound()).filter(({ text }) => !(text ?? '').includes('OLD'));
      const [row] = await on.query<{ sent: number }>(SENT[what]);
      const numbers = rows.map(({ text }) => /<SEQN>(\d+)</.exec(text ?? '')?.[1]).join(',');
      return `${String(rows.length)} row, SEQN ${numbers}, ${String(row?.sent)} SENT`;
    };

    for (const what of ['request', 'report'] as const) {
      for (const wrapped of [false, true]) {
        const suffix = wrapped ? ', SEQN wrapped' : '';
        it.each(POINTS)(`of a ${what} whose process dies %s${suffix}`, async (point) => {
          const on = await rig();
          if (wrapped) await wrap(on);
          await payloads[what](on);
          await on.dieAt(point);
          // Before mailbox.timeout a try is not doubted; after it, it is looked for.
          await on.round();
          on.clock.advance(10_000);
          await on.round();
          await on.round();
          check(`${what} dies ${point}${suffix}`, '1 row, SEQN 1, 1 SENT', await ended(on, what));
        });

        it(`of a ${what} whose insert commits after our timeout${suffix}`, async () => {
          const on = await rig();
          if (wrapped) await wrap(on);
          await payloads[what](on);
          const slow = slowMailbox(on.box.mailbox);
          await expect(on.round({ mailbox: slow.mailbox })).rejects.toThrow(Outage);
          on.clock.advance(10_000);
          // The insert is still under way in a session that nobody waits for: its lock is waited for in vain.
          const hasty = await on.box.reopen({ timeoutMs: 1_500 });
          await expect(on.round({ mailbox: hasty })).rejects.toThrow(Outage);
          slow.release();
          await slow.committed;
          await on.round();
          check(`${what} commits after our timeout${suffix}`, '1 row, SEQN 1, 1 SENT', await ended(on, what));
        });
      }
    }

    it('of each report, ten a minute, whatever else is due', async () => {
      const on = await rig();
      for (let n = 0; n < 23; n++) await on.box.mailbox.insert(`<broken ${String(n)}`);
      await on.box.mailbox.insert(
        '<MSG><META><SNDR>AODB</SNDR><TYPE>EROR</TYPE><STYP>NONE</STYP></META></MSG>',
      );
      await on.pump();
      await on.register('SCHD', DAY);
      const counts: number[] = [];
      for (const seconds of [0, 59, 1, 59, 1, 60]) {
        on.clock.advance(seconds * 1_000);
        await on.round();
        const rows = await on.outbound();
        counts.push(rows.filter(({ routing }) => routing === 'ERR').length);
      }
      check('23 broken messages, and a broken report', '10,10,20,20,23,23', counts.join(','));
      const [first] = (await on.outbound()).filter(({ routing }) => routing === 'ERR');
      expect(first?.text).toContain('<TYPE>EROR</TYPE><STYP>NONE</STYP>');
      expect(first?.text).toContain('<ESEQ></ESEQ>');
      expect((await on.requests())[0]).toBe('SENT in COUTMSGS');
    });

    it('one that the mailbox refuses waits longer each time and holds up no other', async () => {
      const on = await rig();
      await on.register('SCHD', DAY);
      await on.register('ABDG', null);
      const refusing: Pick<Mailbox, 'withOutbound' | 'probe'> = {
        probe: () => on.box.mailbox.probe(),
        withOutbound: (work) =>
          on.box.mailbox.withOutbound((outbound) =>
            work({
              highest: () => outbound.highest(),
              rowsAfter: (after, limit) => outbound.rowsAfter(after, limit),
              insert: async (text, routing) => {
                if (text.includes('<RTYP>')) return outbound.insert(text, routing);
                throw new Error('too long for the column');
              },
            }),
          ),
      };
      await on.round({ mailbox: refusing });
      expect(await on.requests()).toEqual(['PENDING', 'SENT in COUTMSGS']);
      on.clock.advance(9_000);
      await on.round();
      expect((await on.requests())[0]).toBe('PENDING');
      on.clock.advance(1_000);
      await on.round();
      expect((await on.requests())[0]).toBe('SENT in COUTMSGS');
      expect(await on.outbound()).toHaveLength(2);
    });
  });
});

/** A flight of the day and a reference row that the upstream's answers name, too, and say otherwise of. */
const KNOWN = {
  schedule: `<SCHD><RECS>1</RECS>${scheduleRecord('700001', DAY).replace('1200<', '0700<')}</SCHD>`,
  reference: '<RECS>1</RECS><ABDG><CODE>A1</CODE><DESC>as it was</DESC></ABDG>',
};

function payloadOf(text: string | null): string | undefined {
  return /<RQST>(.*)<\/RQST>/.exec(text ?? '')?.[1];
}

/** A mailbox whose first insert is still under way, under its lock, when the caller's patience is over. */
function slowMailbox(mailbox: Mailbox) {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  let committed: Promise<unknown> = Promise.resolve();
  const slow: Pick<Mailbox, 'withOutbound' | 'probe'> = {
    probe: () => mailbox.probe(),
    withOutbound: (work) =>
      new Promise((_resolve, reject) => {
        committed = mailbox.withOutbound((outbound) =>
          work({
            highest: () => outbound.highest(),
            rowsAfter: (after, limit) => outbound.rowsAfter(after, limit),
            insert: async (text, routing) => {
              reject(new Outage('mailbox', new Error('no answer within the deadline')));
              await released;
              return outbound.insert(text, routing);
            },
          }),
        );
        committed.catch(reject);
      }),
  };
  return {
    mailbox: slow,
    release,
    get committed() {
      return committed;
    },
  };
}
