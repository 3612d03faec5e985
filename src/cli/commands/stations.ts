/** `msgx pause STATION` and `msgx resume STATION`. */
import type { Command } from 'commander';
import { Argument } from 'commander';
import { STATIONS, type StationName } from '../../runtime/station.ts';
import { operatorOf, UNREASONED, type ChangeOptions } from '../operator.ts';
import { print, printJson } from '../output.ts';
import { ExpectedFailure, addCommand, withConfig } from '../shell.ts';

export function register(program: Command): void {
  for (const action of ['pause', 'resume'] as const) {
    addCommand(program, {
      usage: action,
      description:
        action === 'pause'
          ? 'let a station rest until it is resumed; survives a restart'
          : 'let a paused station go on',
    })
      .addArgument(new Argument('<station>', 'which one').choices(STATIONS))
      .option('--reason <text>', 'why, for the audit; default: none given')
      .option('--dry-run', 'say what would be done, and do nothing')
      .action((station: StationName, options: ChangeOptions) => change(action, station, options));
  }
}

async function change(
  action: 'pause' | 'resume',
  station: StationName,
  options: ChangeOptions,
): Promise<void> {
  const dryRun = options.dryRun === true;
  const { config } = withConfig(options);
  const { withSchema } = await import('../resources.ts');
  const { pauseStation, resumeStation } = await import('../../actions/stations.ts');
  await withSchema(config, async ({ database }) => {
    const run = action === 'pause' ? pauseStation : resumeStation;
    const operator = await operatorOf(database, { ...UNREASONED, ...options });
    const { outcome, message } = await run(database, station, operator, dryRun);
    if (outcome === 'refused') throw new ExpectedFailure(message);
    if (options.json === true) printJson({ station, action, dryRun, message });
    else print(message);
  });
}
