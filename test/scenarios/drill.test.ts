/** The drill of docs/runbook.md on a real pipeline: what is shown, the alarm, the action and the state after are read there. */
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { parse, stringify } from 'yaml';
import { describe, expect, it } from 'vitest';
import { ScriptedUpstream } from '../../src/simulator/upstream.ts';
import { msgx } from '../cli/kit.ts';
import { metricsIn } from '../deploy/catalogue.ts';
import { codeIn, tableUnder } from '../deploy/runbook.ts';
import { gate, schedule, xml } from '../kit/messages.ts';
import { productionMissing } from '../kit/production-parts.ts';
import { scheduleRecord } from '../kit/requests.ts';
import { mergeSettings, startPipeline } from '../kit/service-pipeline.ts';
import { until } from '../kit/until.ts';
import { behindProxy } from './behind-proxy.ts';
import { expectClean } from './checks.ts';

const root = new URL('../../', import.meta.url);
const runbook = readFileSync(new URL('docs/runbook.md', root), 'utf8');
const ROWS = tableUnder(runbook, 'Drill');
const CASES = [
  'poison at the head',
  'dead schedule',
  'Kafka down',
  'hole',
  'abandoned mark',
  'upstream silent',
] as const;
type Case = (typeof CASES)[number];

const rules = (
  parse(readFileSync(new URL('deploy/prometheus/alerts.yml', root), 'utf8')) as {
    groups: { rules: { alert: string; expr: string }[] }[];
  }
).groups.flatMap(({ rules }) => rules);

/** Nothing is tried again, and no backlog passes, before somebody has looked. */
const SLOW = { pipeline: { retry: { 'capability-backoff': ['5m', '5m', '5m', '5m'] } } };
const FLID = '700001';
const DAY = '2026-03-15';

/** A text of the runbook as a pattern: words in capitals stand for what differs. */
function pattern(text: string): RegExp {
  const escaped = text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(
    escaped
      .replaceAll(/\bN\b/g, '[1-9]\\d*')
      .replaceAll(/\bTIME\b/g, '\\S+')
      .replaceAll(/\bTEXT\b/g, '\\S+')
      .replaceAll(/\bDAY\b/g, DAY),
  );
}

describe('the drill of the runbook', () => {
  it('has each case once, with an alarm that there is', () => {
    expect(ROWS.map(([name]) => name)).toEqual(CASES);
    for (const [name, , , alarm = ''] of ROWS)
      expect(
        rules.map(({ alert }) => alert),
        name,
      ).toContain(codeIn(alarm)[0]);
  });
});

describe.skipIf(productionMissing !== null)('the drill', () => {
  it('is played as the runbook has it', { timeout: 180_000 }, async (test) => {
    const { proxy, options, settings } = await behindProxy('Kafka');
    const pipeline = await startPipeline(test, {
      ...options,
      settings: mergeSettings(mergeSettings(settings, SLOW), { delivery: { timeout: '2s' } }),
    });
    const { mailbox, mailboxSide, running, directory } = pipeline;
    await writeFile(join(directory, 'msgx.yaml'), stringify({ msgx: pipeline.settings }));
    const command = async (words: readonly string[]): Promise<string> => {
      const { code, stdout, stderr } = await msgx(words, { cwd: directory });
      expect({ code, stderr }, words.join(' ')).toEqual({ code: 0, stderr: '' });
      return stdout.replaceAll(/[ ]+/g, ' ');
    };
    /** Runs a command of the runbook as a shell would. */
    const run = (line: string, id: bigint | null) => {
      const filled = line.replaceAll(/\bN\b/g, String(id)).replaceAll(/\bDAY\b/g, DAY);
      const words = [...filled.matchAll(/"([^"]*)"|(\S+)/g)].map(
        ([, quoted, plain]) => quoted ?? plain ?? '',
      );
      return command(words.slice(1));
    };
    const read = async (source: string) =>
      source.startsWith('/') ? (await fetch(running.url + source)).text() : run(source, null);
    /** Waits until everything in a cell of the table is shown: by `msgx status` unless the text names another. */
    const shows = async (name: string, cell: string) => {
      const wanted = new Map<string, string[]>();
      let source = 'msgx status';
      for (const code of codeIn(cell)) {
        if (code.startsWith('msgx ') || /^\/\w/.test(code)) source = code;
        else wanted.set(source, [...(wanted.get(source) ?? []), code]);
      }
      for (const [from, codes] of wanted) {
        let last = '';
        await until(
          `${name}: ${from} to show ${codes.join(' and ')}`,
          async () => {
            last = await read(from);
            return codes.every((code) => pattern(code).test(last)) ? true : null;
          },
          { standing: () => last },
        );
      }
    };
    /** The metric that an alarm watches, all its series together. */
    const watched = async (alarm: string) => {
      const [metric = ''] = metricsIn(rules.find(({ alert }) => alert === alarm)?.expr ?? '');
      const lines = (await (await fetch(`${running.url}/metrics`)).text()).split('\n');
      return lines
        .filter((line) => line.startsWith(`${metric} `) || line.startsWith(`${metric}{`))
        .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
    };
    const upstream = new ScriptedUpstream({
      ...{ mailbox, clock: { now: () => Date.now() }, timeZone: 'Asia/Shanghai', after: 0n },
      behave: () => ({ answer: 'once', delayMs: 0, echo: true }),
      schedule: (day) => [scheduleRecord('7111', day)],
      reference: () => [],
    });
    const answered = () =>
      until('the upstream to answer', async () => ((await upstream.poll()) > 0 ? true : null));
    const processed = async (id: bigint) =>
      until(`message ${String(id)} to be processed`, async () =>
        (await pipeline.rows("select 1 from proc_state where msg_id = $1 and state = 'SUCCEEDED'", [id]))
          .length > 0
          ? true
          : null,
      );

    /** Plays a case; gives the message that the actions name, and what is done beside the commands of the table. */
    const play: Record<
      Case,
      (row: readonly string[]) => Promise<{ id: bigint | null; mend?: () => Promise<unknown> }>
    > = {
      'poison at the head': async () => {
        const id = await mailbox.insert(xml('WXYZ', 'TEST', '<WXYZ/>'));
        await mailbox.insert(gate(FLID, 'G2'));
        return { id };
      },
      'dead schedule': async () => {
        await mailbox.insert(schedule('700002').replace('<RECS>1</RECS>', '<RECS>2</RECS>'));
        return { id: null, mend: answered };
      },
      'Kafka down': async () => {
        proxy.refuse();
        proxy.cut();
        await mailbox.insert(gate(FLID, 'G3'));
        return { id: null, mend: async () => proxy.heal() };
      },
      hole: async (row) => {
        const writer = new pg.Client({ connectionString: mailboxSide.url });
        writer.on('error', () => undefined);
        await writer.connect();
        await writer.query('begin');
        await writer.query("insert into cminmsgs (cminmsgs_clob_msg) values ('<MSG/>')");
        await mailbox.insert(gate(FLID, 'G4'));
        return { id: null, mend: () => endWriter(mailboxSide.url, codeIn(row[4] ?? '')[0] ?? '') };
      },
      'abandoned mark': async (row) => {
        const [pause = '', resume = ''] = codeIn(row[1] ?? '');
        await run(pause, null);
        // The running service has to know of it before there is a mark to write.
        await shows('the pause', '`/api/v1/status` `"name":"backfill","state":"paused"`');
        const id = await mailbox.insert(gate(FLID, 'G5'));
        await processed(id);
        await mailboxSide.remove([id]);
        await run(resume, null);
        return { id };
      },
      'upstream silent': async () => ({ id: null, mend: answered }),
    };

    await processed(await mailbox.insert(schedule(FLID)));
    await pipeline.drained();
    for (const [index, name] of CASES.entries()) {
      const row = ROWS[index] ?? [];
      const [, , shown = '', alarm = '', action = '', afterwards = ''] = row;
      const [alert = ''] = codeIn(alarm);
      const before = name === 'upstream silent' ? 0 : await watched(alert);
      const { id, mend } = await play[name](row);
      await shows(name, shown);
      const during = await watched(alert);
      expect(during, `${name}: ${alert}`).toBeGreaterThan(before);
      for (const code of codeIn(action)) if (code.startsWith('msgx ')) await run(code, id);
      await mend?.();
      await shows(name, afterwards);
      // A dead schedule stays counted: its alarm is a rise.
      if (name === 'dead schedule') expect(await watched(alert)).toBe(during);
      else expect(await watched(alert), `${name}: ${alert} afterwards`).toBeLessThan(during);
    }
    // The row that its owner deleted is missing in the mailbox, so `drained` cannot count.
    await until('everything to be told and marked', async () => {
      const { unfinished, undelivered, owed } = await pipeline.standing();
      return unfinished === 0 && undelivered === 0 && owed === 0 ? true : null;
    });
    await expectClean(pipeline);
  });
});

/** As the mailbox's owner does it: looks for the session with the runbook's own question, and ends it. */
async function endWriter(url: string, statement: string): Promise<void> {
  const [, question = ''] = /```sql\n-- on the mailbox, by its owner\n(.*?)```/s.exec(runbook) ?? [];
  const owner = new pg.Client({ connectionString: url });
  await owner.connect();
  try {
    const { rows } = await owner.query<{ pid: number; state: string; left: string }>(question);
    const writers = rows.filter(({ state, left }) => state === 'idle in transaction' && /insert/.test(left));
    expect(writers).toHaveLength(1);
    await owner.query(statement.replace('PID', String(writers[0]?.pid)));
  } finally {
    await owner.end();
  }
}
