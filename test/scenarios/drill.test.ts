/** The drill of docs/runbook.md on a real pipeline: what is shown, the alarm, the action and the state after are read there. */
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { describe, expect, it } from 'vitest';
import { msgx } from '../cli/kit.ts';
import { metricsIn } from '../deploy/catalogue.ts';
import { codeIn } from '../deploy/runbook.ts';
import { startPipeline } from '../kit/service-pipeline.ts';
import { until } from '../kit/until.ts';
import { expectClean } from './checks.ts';
import { CASES, DAY, ROWS, drillMissing, drillOn, drillParts, pattern } from './drill.ts';

const root = new URL('../../', import.meta.url);
const rules = (
  parse(readFileSync(new URL('deploy/prometheus/alerts.yml', root), 'utf8')) as {
    groups: { rules: { alert: string; expr: string }[] }[];
  }
).groups.flatMap(({ rules }) => rules);

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

describe.skipIf(drillMissing !== null)('the drill', () => {
  it('is played as the runbook has it', { timeout: 180_000 }, async (test) => {
    const { proxy, options } = await drillParts();
    const pipeline = await startPipeline(test, options);
    const { running, directory } = pipeline;
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
    const drill = drillOn(pipeline, proxy, async (change) => {
      const [pause = '', resume = ''] = codeIn(ROWS[CASES.indexOf('abandoned mark')]?.[1] ?? '');
      await run(change === 'pause' ? pause : resume, null);
      // The running service has to know of it before there is a mark to write.
      if (change === 'pause')
        await shows('the pause', '`/api/v1/status` `"name":"backfill","state":"paused"`');
    });

    await drill.begin();
    for (const [index, name] of CASES.entries()) {
      const row = ROWS[index] ?? [];
      const [, , shown = '', alarm = '', action = '', afterwards = ''] = row;
      const [alert = ''] = codeIn(alarm);
      const before = name === 'upstream silent' ? 0 : await watched(alert);
      const { id, mend } = await drill.play(name);
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
    await drill.end();
    await expectClean(pipeline);
  });
});
