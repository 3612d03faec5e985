/** `msgx run`: the service. */
import type { Command } from 'commander';
import { ExpectedFailure, addCommand, untilSignal, withConfig, type CommonOptions } from '../shell.ts';

export function register(program: Command): void {
  addCommand(program, {
    usage: 'run',
    description: 'run the service: SIGTERM finishes the current messages and ends within 10 s',
    json: false,
  }).action(run);
}

async function run(options: CommonOptions): Promise<void> {
  const { config, warnings } = withConfig(options);
  const { createLogger } = await import('../../runtime/logger.ts');
  const { startHost } = await import('../host.ts');
  const { withResources } = await import('../resources.ts');
  const { ServiceFault } = await import('../../service/service.ts');
  const signal = untilSignal();
  const log = createLogger(config.log);
  for (const warning of warnings) log.warn(warning);
  await withResources(config, async (resources) => {
    const host = await startHost(resources, log);
    log.info({ url: host.server.url, airport: config.airport }, 'msgx is running');
    try {
      await Promise.race([signal, host.ended]);
      log.info({}, 'stopping');
    } catch (error) {
      if (error instanceof ServiceFault) {
        const exitCode = error.mend === 'configuration' ? 2 : 1;
        throw new ExpectedFailure(error.message, exitCode, { cause: error });
      }
      throw error;
    } finally {
      await host.stop();
    }
    log.info({}, 'stopped');
  });
}
