/** `msgx pause STATION` and `msgx resume STATION`. */
import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { Argument } from 'commander';
import { STATIONS, type StationName } from '../../runtime/station.ts';
import { print, printJson } from '../output.ts';
import { ExpectedFailure, addCommand, withConfig, type CommonOptions } from '../shell.ts';

interface StationOptions extends CommonOptions {
  readonly reason: string;
}

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
      .option('--reason <text>', 'why, for the audit', 'none given')
      .action((station: StationName, options: StationOptions) => change(action, station, options));
  }
}

async function change(
  action: 'pause' | 'resume',
  station: StationName,
  options: StationOptions,
): Promise<void> {
  const { config } = withConfig(options);
  const { withSchema } = await import('../resources.ts');
  const { pauseStation, resumeStation } = await import('../../actions/stations.ts');
  const { databaseNow } = await import('../../store/lease.ts');
  await withSchema(config, async ({ database }) => {
    const operator = {
      who: `cli:${userInfo().username}`,
      reason: options.reason,
      now: await databaseNow(database),
    };
    const run = action === 'pause' ? pauseStation : resumeStation;
    const { outcome, message } = await run(database, station, operator);
    if (outcome === 'refused') throw new ExpectedFailure(message);
    if (options.json === true) printJson({ station, action, message });
    else print(message);
  });
}
