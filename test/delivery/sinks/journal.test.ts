import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Stream } from '../../../src/delivery/port.ts';
import { JournalSink, journalFileName, type JournalOptions } from '../../../src/delivery/sinks/journal.ts';
import { Outage } from '../../../src/runtime/outage.ts';
import { record, sinkConformance, type Delivered, type SinkHarness } from '../../kit/sink-conformance.ts';
import { FaultyDisk } from './faulty-disk.ts';

const TOPICS = { msg: 'flight.msg', schd: 'flight.schd' };

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

async function readJournal(directory: string, stream: Stream): Promise<readonly Delivered[]> {
  const text = await readFile(join(directory, journalFileName(stream)), 'utf8').catch(() => '');
  expect(text === '' || text.endsWith('\n')).toBe(true);
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      expect(isJson(line), line).toBe(true);
      const parsed = JSON.parse(line) as Delivered & { topic: string };
      expect(Object.keys(parsed)).toEqual(['topic', 'key', 'headers', 'value']);
      expect(parsed.topic).toBe(TOPICS[stream]);
      return { key: parsed.key, headers: parsed.headers, value: parsed.value };
    });
}

async function journalHarness(): Promise<SinkHarness> {
  const directory = await mkdtemp(join(tmpdir(), 'msgx-journal-'));
  const disk = new FaultyDisk();
  const open: JournalSink[] = [];
  return {
    open: async ({ timeoutMs = 10_000 } = {}) => {
      const sink = new JournalSink({
        directory,
        topics: TOPICS,
        timeoutMs,
        maxRecordBytes: 4_000_000,
        openFile: disk.open,
      });
      open.push(sink);
      return sink;
    },
    read: (stream) => readJournal(directory, stream),
    refusable: () => record('f', 'x'.repeat(4_000_000)),
    fail: async () => {
      disk.mode = 'full';
      return async () => void (disk.mode = 'sound');
    },
    silence: async () => {
      disk.mode = 'hanging';
      return async () => void (disk.mode = 'sound');
    },
    dispose: async () => {
      disk.mode = 'sound';
      for (const sink of open) await sink.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

sinkConformance('the journal', journalHarness);

describe('the journal', () => {
  let directory: string;
  const open: JournalSink[] = [];
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'msgx-journal-'));
  });
  afterEach(async () => {
    for (const sink of open.splice(0)) await sink.close();
    await rm(directory, { recursive: true, force: true });
  });
  function journal(options: Partial<JournalOptions> = {}): JournalSink {
    const sink = new JournalSink({ directory, topics: TOPICS, timeoutMs: 5_000, ...options });
    open.push(sink);
    return sink;
  }
  const values = async (stream: Stream = 'msg') =>
    (await readJournal(directory, stream)).map(({ value }) => value);
  const path = (stream: Stream = 'msg') => join(directory, journalFileName(stream));

  it.each([
    ['a torn line', '{"topic":"flight.msg","key":"f","he'],
    ['a line without its end', '{"topic":"flight.msg","key":"f","headers":{},"value":9}'],
    ['blocks of NUL', '\0'.repeat(9_000)],
    ['a hole between lines', `{"topic"${'\0'.repeat(5_000)}":"x"}\n{"topic":"flight.msg"}\n`],
  ])('cuts off %s when it is opened, and nothing else', async (_name, tail) => {
    const before = journal();
    await before.send([record('f', 1), record('f', 2)]);
    await before.close();
    await appendFile(path(), tail);
    await journal().send([record('f', 3)]);
    expect(await values()).toEqual([1, 2, 3]);
  });

  it('cuts off a file that is one torn line, longer than one look', async () => {
    await writeFile(path(), 'x'.repeat(20 * 1024 * 1024));
    await journal().send([record('f', 1)]);
    expect(await values()).toEqual([1]);
  });

  it('makes one fsync per batch and file', async () => {
    const disk = new FaultyDisk();
    const sink = journal({ openFile: disk.open });
    await sink.send([record('f', 1), record('f', 2), record('f', 3)]);
    expect(disk.syncs).toBe(1);
    await sink.send([record('f', 4), record('f', 5, 'schd')]);
    expect(disk.syncs).toBe(3);
  });

  it.each(['full and stuck', 'no fsync'] as const)(
    'cuts off the failed batch before the next one: disk %s',
    async (mode) => {
      const disk = new FaultyDisk();
      const sink = journal({ openFile: disk.open });
      await sink.send([record('f', 1)]);
      disk.mode = mode;
      await expect(sink.send([record('f', 2), record('f', 3)])).rejects.toThrow(Outage);
      await expect(sink.send([record('f', 2), record('f', 3)])).rejects.toThrow(Outage);
      disk.mode = 'sound';
      await sink.send([record('f', 4)]);
      expect(await values()).toEqual([1, 4]);
    },
  );

  it('reports a full device and a directory that cannot be made as outages', async () => {
    await writeFile(join(directory, 'file'), '');
    const sink = journal({ directory: join(directory, 'file', 'below') });
    await expect(sink.send([record('f', 1)])).rejects.toMatchObject({
      name: 'Outage',
      dependency: 'delivery',
    });
    expect(await sink.probe()).toBe(false);
  });

  it('creates directories, several deep', async () => {
    const deep = join(directory, 'a', 'b', 'c');
    await journal({ directory: deep }).send([record('f', 1)]);
    expect(await readJournal(deep, 'msg')).toHaveLength(1);
  });

  it('goes on in a new file where the old one was rotated away', async () => {
    const sink = journal();
    await sink.send([record('f', 1)]);
    await rename(path(), path() + '.1');
    await sink.send([record('f', 2)]);
    expect(await values()).toEqual([2]);
  });

  it('refuses an empty key and an empty value', async () => {
    const sink = journal();
    expect(await sink.send([record('', 1)])).toMatchObject({ outcome: 'refused' });
    expect(await sink.send([{ ...record('f', 1), value: '' }])).toMatchObject({ outcome: 'refused' });
  });

  it('keeps one line per record whatever the layout of the value', async () => {
    await journal().send([{ ...record('f', 1), value: '{\r\n "a":\n 1}' }]);
    expect(await values()).toEqual([{ a: 1 }]);
  });

  it('belongs to one sink at a time', async () => {
    const first = journal();
    const second = journal();
    await first.send([record('f', 1)]);
    await expect(second.send([record('f', 2)])).rejects.toThrow(/held by process/);
    expect(await second.probe()).toBe(false);
    await first.close();
    expect(await second.probe()).toBe(true);
    await second.send([record('f', 3)]);
    expect(await values()).toEqual([1, 3]);
  });

  it('is taken over at once from a process that was killed', async () => {
    const child = await holdInChild(directory);
    const sink = journal();
    await expect(sink.send([record('f', 2)])).rejects.toThrow(/held by process/);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await sink.send([record('f', 3)]);
    expect(await values()).toEqual([1, 3]);
  });

  it(
    'is taken over from a process that was stopped, which then writes nothing more',
    { timeout: 20_000 },
    async () => {
      const child = await holdInChild(directory);
      child.kill('SIGSTOP');
      try {
        const sink = journal();
        await expect
          .poll(() => sink.send([record('f', 3)]).then(({ outcome }) => outcome, String), { timeout: 10_000 })
          .toBe('accepted');
        child.kill('SIGCONT');
        // It goes on as if nothing had happened and is told.
        child.stdin.write('send\n');
        const [answer] = (await once(child.stdout, 'data')) as [Buffer];
        expect(answer.toString()).toMatch(/^Outage .*another process/);
        await sink.send([record('f', 4)]);
        expect(await values()).toEqual([1, 3, 4]);
      } finally {
        child.kill('SIGKILL');
      }
    },
  );
});

/** A process that holds the journal, has sent 1, and sends 2 whenever it is told. */
async function holdInChild(directory: string) {
  const source = new URL('../../../src/delivery/sinks/journal.ts', import.meta.url).href;
  const program = `
    const { JournalSink } = await import(${JSON.stringify(source)});
    const topics = ${JSON.stringify(TOPICS)};
    const sink = new JournalSink({ directory: ${JSON.stringify(directory)}, topics, timeoutMs: 5000 });
    const send = (value) => sink.send([{ stream: 'msg', key: 'f', headers: {}, value }]);
    await send('1');
    console.log('ready');
    process.stdin.on('data', () => {
      send('2').then(({ outcome }) => console.log(outcome), (error) => console.log(error.name, error.message));
    });
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  expect(line.toString()).toBe('ready\n');
  return child;
}
