/**
 * The process that is measured: all of msgx that takes part in a drain, and nothing else. `bench` starts one per
 * measurement, with the task as its argument, and reads one line of JSON.
 */
import { AnchoredClock } from '../runtime/clock.ts';
import { openResources } from '../service/resources.ts';
import { configOf, type Task } from './task.ts';
import { drainAll, drainPump, latency } from './drain.ts';

const task = JSON.parse(process.argv[2] ?? '') as Task;
const resources = await openResources(configOf(task));
const setup = { ...resources, clock: new AnchoredClock(Date.now()) };
try {
  const result =
    task.kind === 'latency'
      ? await latency(setup, task.rate, task.seconds)
      : await (task.kind === 'process' ? drainPump : drainAll)(setup, task.messages);
  const rssMb = Math.round(process.resourceUsage().maxRSS / 1024);
  process.stdout.write(`${JSON.stringify({ result, rssMb })}\n`);
} finally {
  await setup.close();
}
