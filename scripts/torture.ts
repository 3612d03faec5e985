/**
 * `npm run torture -- --minutes N --seed S [--rate R]`: msgx under faults of every kind, see docs/invariants.md, "Torture".
 * Ends with 1 where the checker or `msgx verify` finds anything.
 */
import { spawn } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '8' },
    seed: { type: 'string', default: '1' },
    rate: { type: 'string', default: '40' },
  },
});
for (const name of ['minutes', 'rate'] as const) {
  if (!/^[1-9]\d{0,3}$/.test(values[name])) {
    console.error(`--${name} must be a whole number from 1`);
    process.exit(2);
  }
}
const child = spawn(
  'vitest',
  ['run', 'test/torture/torture.process.test.ts', '--project=service', '--disable-console-intercept=true'],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      MSGX_TEST_REQUIRE: 'postgres,mariadb,kafka',
      MSGX_TORTURE_MINUTES: values.minutes,
      MSGX_TORTURE_SEED: values.seed,
      MSGX_TORTURE_RATE: values.rate,
      MSGX_TORTURE_SHOWN: '1',
    },
  },
);
child.on('close', (code) => process.exit(code ?? 1));
