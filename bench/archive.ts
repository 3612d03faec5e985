/**
 * What archiving 300,000 messages and 20,000 flights costs the 50 messages a second that flow meanwhile:
 * `npm run bench:archive [-- --messages N --flights N --rate N --window SECONDS]`. Prints one line of JSON; takes about
 * a quarter of an hour.
 */
import { parseArgs } from 'node:util';
import { archiveUnderTraffic } from '../src/benchmark/archive.ts';

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '300000' },
    flights: { type: 'string', default: '20000' },
    rate: { type: 'string', default: '50' },
    window: { type: 'string', default: '20' },
  },
});
const report = await archiveUnderTraffic(
  {
    messages: Number(values.messages),
    flights: Number(values.flights),
    rate: Number(values.rate),
    windowSeconds: Number(values.window),
  },
  (step) => console.error(step),
);
console.log(JSON.stringify(report));
