/** The commands of msgx, as commander knows them. */
import { readdirSync } from 'node:fs';
import { Command } from 'commander';
import type { CommandModule } from '../../src/cli/program.ts';

const folder = new URL('../../src/cli/commands/', import.meta.url);

/** A program with every command; none of their actions is run by looking. */
export async function commandLine(): Promise<Command> {
  const program = new Command('msgx');
  for (const file of readdirSync(folder)) {
    const { register } = (await import(new URL(file, folder).href)) as CommandModule;
    register(program);
  }
  return program;
}
