/**
 * What merging one gate change into a full flight costs, in µs, against parsing and printing the same flight as
 * JSON in the same run. `node bench/merge.ts`
 */
import { msgId } from '../src/domain/ids.ts';
import { foldPatch } from '../src/domain/merge.ts';
import { delay, F1, list, patch, push, scalar, schedule, throughJsonb, World } from '../test/domain/kit.ts';

const world = new World();
const stand = { seq: 1, code: '204', plannedFrom: '2026-03-14T07:00:00+08:00' };
world.run(
  1,
  schedule([
    patch(
      F1,
      scalar('terminal', 'T2'),
      scalar('externalStatus.code', 'DELAY'),
      list('stands', stand, { ...stand, seq: 2, code: '401#' }),
      list('gates', { seq: 1, code: '04' }),
      list('route', { seq: 1, airport: 'CTU' }, { seq: 2, airport: 'XIY' }),
      delay('81', 45),
      push('204', '2026-03-14T08:20:00+08:00'),
    ),
  ]),
);
const flight = throughJsonb({ state: world.flight(F1).state, stamps: world.flight(F1).stamps });
const before = { ...world.flight(F1), ...flight };
const rounds: number[] = [];
for (let round = 0; round < 40; round += 1) {
  const start = performance.now();
  for (let id = 2; id < 202; id += 1) {
    foldPatch(before, msgId(BigInt(id)), [list('gates', { seq: 1, code: `G${id}` }, { seq: 2, code: '05' })]);
  }
  rounds.push(((performance.now() - start) * 1000) / 200);
}
const yardstick: number[] = [];
const json = JSON.stringify(before, (_, value: unknown) =>
  typeof value === 'bigint' ? value.toString() : value,
);
for (let round = 0; round < 40; round += 1) {
  const start = performance.now();
  for (let turn = 0; turn < 200; turn += 1) JSON.stringify(JSON.parse(json));
  yardstick.push(((performance.now() - start) * 1000) / 200);
}
const merge = Math.min(...rounds);
const copy = Math.min(...yardstick);
const shown = { bytes: json.length, mergeMicros: merge, jsonCopyMicros: copy, ratio: merge / copy };
process.stdout.write(`${JSON.stringify(shown)}\n`);
