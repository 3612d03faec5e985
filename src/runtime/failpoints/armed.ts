/**
 * What `#failpoint` is under `--conditions=msgx-failpoints`: the process kills itself at the Nth passing of one point,
 * `MSGX_TEST_FAILPOINT=name:N`. For tests only; a build has nothing of it.
 */
import { writeSync } from 'node:fs';
import { FAILPOINTS, type FailpointName } from './names.ts';

const armed = armedBy(process.env['MSGX_TEST_FAILPOINT']);
let passings = 0;

/** At the armed passing writes one line to stderr and ends the process; nothing of ours runs after it. */
export function failpoint(name: FailpointName): void {
  if (name !== armed?.name) return;
  passings += 1;
  if (passings !== armed.passing) return;
  writeSync(2, `failpoint ${name}, passing ${String(passings)}\n`);
  process.kill(process.pid, 'SIGKILL');
  // The signal may be delivered to another thread of the process first: nothing may come in between.
  for (;;);
}

/** Throws RangeError for a name that is not in the list: a test must not wait for a point that does not exist. */
function armedBy(
  text: string | undefined,
): { readonly name: FailpointName; readonly passing: number } | null {
  if (text === undefined || text === '') return null;
  const [name = '', count = '1'] = text.split(':');
  const passing = Number(count);
  if (!isName(name) || !Number.isInteger(passing) || passing < 1) {
    throw new RangeError(`MSGX_TEST_FAILPOINT=${text}: no such failpoint, or no passing from 1 on`);
  }
  return { name, passing };
}

function isName(name: string): name is FailpointName {
  return Object.hasOwn(FAILPOINTS, name);
}
