/**
 * What a replay of 1,000 dead messages, of which 500 still cannot pass, costs the messages that flow meanwhile:
 * `npm run bench:replay [-- --replays N --each N --rate N]`. Prints one line of JSON, and exits with 1 where the replay did
 * not do what it has to; takes about two minutes.
 */
import { parseArgs } from 'node:util';
import { replayUnderTraffic } from '../src/benchmark/replay.ts';

const { values } = parseArgs({
  options: {
    replays: { type: 'string', default: '20' },
    each: { type: 'string', default: '500' },
    rate: { type: 'string', default: '50' },
  },
});
const inputs = { replays: Number(values.replays), each: Number(values.each), rate: Number(values.rate) };
const report = await replayUnderTraffic(inputs, (step) => console.error(step));
console.log(JSON.stringify(report));
const { reenqueued, rerunsRefused, auditRows, left, broken } = report;
const wrong = [
  reenqueued.every((count) => count === inputs.each)
    ? null
    : 'not every message that passes was put back, or more',
  rerunsRefused === inputs.replays ? null : 'a second replay changed something',
  auditRows === inputs.each * inputs.replays ? null : 'the audit is not complete',
  left === inputs.each ? null : 'a message that cannot pass went back to the line, or one that can did not',
  broken.length === 0 ? null : 'verify finds something broken',
].filter((each) => each !== null);
for (const each of wrong) console.error(each);
process.exitCode = wrong.length === 0 ? 0 : 1;
