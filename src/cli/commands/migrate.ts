/** `msgx migrate`: brings our own schema up to this version. */
import type { Command } from 'commander';
import { print, printJson } from '../output.ts';
import { ExpectedFailure, addCommand, withConfig, type CommonOptions } from '../shell.ts';

export function register(program: Command): void {
  addCommand(program, {
    usage: 'migrate',
    description: 'create or update our own schema; waits where another migrate is running',
  })
    .option('--grants <file>', 'SQL to run behind it, e.g. deploy/postgres/grants.sql for the other roles')
    .action(migrateSchema);
}

async function migrateSchema(options: CommonOptions & { readonly grants?: string }): Promise<void> {
  const { config } = withConfig(options);
  const grants = options.grants === undefined ? {} : { grants: await readGrants(options.grants) };
  const { databaseUrlOf } = await import('../../service/resources.ts');
  const { migrate, SchemaFault } = await import('../../store/migrate.ts');
  const server = await databaseUrlOf(config);
  try {
    const { applied, views } = await migrate(server.url, config.database.schema, grants);
    if (options.json === true) {
      printJson({ schema: config.database.schema, applied, views, granted: options.grants !== undefined });
      return;
    }
    for (const name of applied) print(`applied ${name}`);
    if (applied.length === 0) print(views ? 'views re-created' : 'nothing to do');
    if (options.grants !== undefined) print(`granted ${options.grants}`);
  } catch (error) {
    if (error instanceof SchemaFault) throw new ExpectedFailure(error.message, 1, { cause: error });
    throw error;
  } finally {
    await server.close();
  }
}

async function readGrants(file: string): Promise<string> {
  const { readFile } = await import('node:fs/promises');
  const { messageOf } = await import('../../runtime/outage.ts');
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new ExpectedFailure(`--grants ${file} cannot be read: ${messageOf(error)}`, 2, { cause: error });
  }
}
