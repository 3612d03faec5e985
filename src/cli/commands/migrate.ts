/** `msgx migrate`: brings our own schema up to this version. */
import type { Command } from 'commander';
import { print, printJson } from '../output.ts';
import { ExpectedFailure, addCommand, withConfig, type CommonOptions } from '../shell.ts';

export function register(program: Command): void {
  addCommand(program, {
    usage: 'migrate',
    description: 'create or update our own schema; waits where another migrate is running',
  }).action(migrateSchema);
}

async function migrateSchema(options: CommonOptions): Promise<void> {
  const { config } = withConfig(options);
  const { databaseUrlOf } = await import('../../service/resources.ts');
  const { migrate, SchemaFault } = await import('../../store/migrate.ts');
  const server = await databaseUrlOf(config);
  try {
    const { applied, views } = await migrate(server.url, config.database.schema);
    if (options.json === true) {
      printJson({ schema: config.database.schema, applied, views });
      return;
    }
    for (const name of applied) print(`applied ${name}`);
    if (applied.length === 0) print(views ? 'views re-created' : 'nothing to do');
  } catch (error) {
    if (error instanceof SchemaFault) throw new ExpectedFailure(error.message, 1, { cause: error });
    throw error;
  } finally {
    await server.close();
  }
}
