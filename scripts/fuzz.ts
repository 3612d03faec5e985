/**
 * `npm run fuzz -- --minutes N --seed S`: hostile inputs for the reader and the dialect (test/fuzz). No crash, no
 * second without a pause, no more than 100 MB above the message, every outcome a named one. A failure prints its
 * seed and number (`--seed S --from N --count 1` repeats it) and writes the input into a file.
 */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { parts, PULSE_MODULUS, type WorkerResult, type WorkerTask } from '../test/fuzz/worker.ts';

/** An input that keeps the worker so long hangs. */
const HANG_MS = 30_000;
const HEAP_MB = 512;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    from: { type: 'string', default: '0' },
    count: { type: 'string', default: 'Infinity' },
  },
});
const [minutes, from, count] = [Number(values.minutes), Number(values.from), Number(values.count)];
if (!(minutes > 0) || !Number.isInteger(from) || !(count > 0)) {
  console.error('usage: npm run fuzz -- [--minutes N] [--seed S] [--from N] [--count N]');
  process.exit(2);
}

const pulse = new SharedArrayBuffer(8);
const beat = new Int32Array(pulse);
const began = performance.now();
const ended = await outcome({ seed: values.seed, from, count, minutes, pulse });
const seconds = (performance.now() - began) / 1_000;
if ('inputs' in ended) {
  const { inputs, outcomes, longestMs, longestAt, bytes, bytesAt } = ended;
  const sorted = Object.entries(outcomes).sort(([, left], [, right]) => right - left);
  for (const [name, times] of sorted) console.log(`${String(times).padStart(9)}  ${name}`);
  console.log(
    `seed ${values.seed}: ${String(inputs)} inputs, ${(inputs / seconds).toFixed(0)} a second; ` +
      `longest without a pause ${longestMs.toFixed(0)} ms (input ${String(longestAt)}); ` +
      `most memory above the message ${(bytes / 1024 / 1024).toFixed(0)} MB (input ${String(bytesAt)})`,
  );
}
const { failed } = ended;
if (failed !== null) {
  const { generator } = await parts(values.seed);
  const { bytes, text } = generator.input(failed.index);
  const directory = await mkdtemp(join(tmpdir(), 'msgx-fuzz-'));
  await writeFile(join(directory, 'bytes'), bytes);
  await writeFile(join(directory, 'text.json'), JSON.stringify(text));
  console.error(`input ${String(failed.index)}: ${failed.fault}`);
  console.error(`again: npm run fuzz -- --seed ${values.seed} --from ${String(failed.index)} --count 1`);
  console.error(`written to ${directory}`);
  process.exitCode = 1;
}

/** Ends with the worker's result, its crash, or a hang. */
function outcome(task: WorkerTask): Promise<WorkerResult | Pick<WorkerResult, 'failed'>> {
  return new Promise((resolve) => {
    const worker = new Worker(new URL('../test/fuzz/worker.ts', import.meta.url), {
      workerData: task,
      // The stack is that of the main thread, where a call takes fewer arguments.
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, stackSizeMb: 1 },
    });
    const failedWith = (fault: string): void => {
      resolve({ failed: { index: Atomics.load(beat, 0), fault } });
    };
    const watch = setInterval(() => {
      const since = Atomics.load(beat, 1);
      if (since === 0 || ((Date.now() % PULSE_MODULUS) - since + PULSE_MODULUS) % PULSE_MODULUS < HANG_MS)
        return;
      failedWith('no end');
      void worker.terminate();
    }, 500);
    worker.on('message', resolve);
    worker.on('error', (error) => failedWith(`crashed: ${String(error)}`));
    worker.on('exit', () => {
      clearInterval(watch);
      failedWith('the worker ended');
    });
  });
}
