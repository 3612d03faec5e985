/**
 * The process that is measured: all of msgx that takes part in a drain, and nothing else. `bench` starts one per
 * measurement, with the task as its argument, and reads one line of JSON.
 */
import { readFileSync } from 'node:fs';
import { AnchoredClock } from '../runtime/clock.ts';
import { openResources } from '../service/resources.ts';
import { configOf, type Task } from './task.ts';
import { drainAll, drainPump } from './drain.ts';
import { latency } from './live.ts';

const task = JSON.parse(process.argv[2] ?? '') as Task;
const resources = await openResources(configOf(task));
const setup = { ...resources, clock: new AnchoredClock(Date.now()) };
try {
  const result =
    task.kind === 'latency'
      ? await latency(setup, task.rate, task.seconds)
      : await (task.kind === 'process' ? drainPump : drainAll)(setup, task.messages);
  process.stdout.write(`${JSON.stringify({ result, rssMb: mostResident() })}\n`);
} finally {
  await setup.close();
}

/**
 * Most memory of this process that was resident at once, MB. Linux' `maxrss` begins with that of the process which
 * started this one (which has written the mailbox), so the high-water mark of the address space is read where it can be.
 */
function mostResident(): number {
  let kilobytes = process.resourceUsage().maxRSS;
  try {
    kilobytes = Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? kilobytes);
  } catch {
    // No Linux: maxrss is all there is.
  }
  return Math.round(kilobytes / 1024);
}
