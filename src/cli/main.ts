/** Entry of `msgx` (bin/msgx.js). A new command is one line in COMMANDS. */
import { VERSION } from '../service/version.ts';
import { runCommandLine, type CommandModule } from './program.ts';

const COMMANDS: readonly (() => Promise<CommandModule>)[] = [
  () => import('./commands/demo.ts'),
  () => import('./commands/run.ts'),
  () => import('./commands/migrate.ts'),
  () => import('./commands/mailbox.ts'),
  () => import('./commands/check.ts'),
  () => import('./commands/status.ts'),
  () => import('./commands/decode.ts'),
  () => import('./commands/send.ts'),
  () => import('./commands/flight.ts'),
  () => import('./commands/verify.ts'),
  () => import('./commands/simulate.ts'),
  () => import('./commands/stations.ts'),
  () => import('./commands/replay.ts'),
  () => import('./commands/skip.ts'),
  () => import('./commands/dlq.ts'),
  () => import('./commands/backfill.ts'),
  () => import('./commands/republish.ts'),
  () => import('./commands/request.ts'),
  () => import('./commands/audit.ts'),
  () => import('./commands/token.ts'),
  () => import('./commands/bench.ts'),
];

// A reader that went away (`msgx … | head`) is no failure of ours.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(process.exitCode ?? 0);
    throw error;
  });
}

const modules = await Promise.all(COMMANDS.map((load) => load()));
process.exitCode = await runCommandLine(modules, VERSION, process.argv.slice(2));
// Output first, then an end that no forgotten timer or connection can hold up.
process.stdout.write('', () => process.stderr.write('', () => process.exit()));
