/**
 * `npm run torture -- --minutes N --seed S [--rate R] [--keep]`: msgx under faults of every kind, see docs/invariants.md, "Torture".
 * Ends with 1 where the checker or `msgx verify` finds anything.
 */
import { spawn } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '8' },
    seed: { type: 'string', default: '1' },
    rate: { type: 'string', default: '40' },
    /** Its folder is kept also where nothing was found. */
    keep: { type: 'boolean', default: false },
  },
});
const wrong = !/^[1-9]\d{0,3}(\.\d)?$/.test(values.minutes)
  ? '--minutes must be a number from 1, such as 8 or 1.5'
  : !/^[1-9]\d{0,3}$/.test(values.rate)
    ? '--rate must be a whole number from 1'
    : null;
if (wrong !== null) {
  console.error(wrong);
  process.exit(2);
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
      ...(values.keep ? { MSGX_TORTURE_KEEP: '1' } : {}),
    },
  },
);
child.on('close', (code) => process.exit(code ?? 1));
