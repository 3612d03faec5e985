/**
 * Serves the built console with an invented, lively airport day, to design the page without a pipeline:
 * `node scripts/console-fixture.ts [--calm] [--port 8090]`, rebuilt by `npm run console:build -- --watch`.
 */
import { parseArgs } from 'node:util';
import { airportTime } from '../test/console/fixture-day.ts';
import { calmStatus, troubledStatus } from '../test/console/fixture-status.ts';
import { startFixture } from '../test/console/fixture.ts';

const { values } = parseArgs({
  options: { calm: { type: 'boolean', default: false }, port: { type: 'string', default: '8090' } },
});
const fixture = await startFixture({ port: Number(values.port) });
const start = Date.now();
fixture.setStatus((now) => {
  const wave = Math.round(12 * Math.sin(now / 7000) + 5 * Math.sin(now / 1900));
  // Troubles last 45 s, then begin anew.
  const status = values.calm ? calmStatus(now) : troubledStatus(now, now - ((now - start) % 45_000));
  return {
    ...status,
    stations: status.stations.map((station) =>
      station.perMinute === 0 ? station : { ...station, perMinute: Math.max(0, station.perMinute + wave) },
    ),
  };
});

const flids = [...fixture.flights.keys()];
const soon = flids.findIndex((flid) => {
  const time = fixture.flights.get(flid)?.flight['scheduledTime'];
  return typeof time === 'string' && Date.parse(time) >= Date.now();
});
let step = 0;
setInterval(() => {
  const flid = flids[(soon + ((step * 7) % 40)) % flids.length];
  step += 1;
  if (flid === undefined) return;
  fixture.changeFlight(
    flid,
    step % 3 === 0
      ? { gates: [{ seq: 1, code: `G${step % 60}` }] }
      : { estimatedTime: airportTime(Date.now() + (step % 90) * 60_000) },
  );
}, 1500);
console.log(`console with invented data: ${fixture.url}`);
