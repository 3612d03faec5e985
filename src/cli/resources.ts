/** Opens what a command works on, with expected failures as one line. */
import type { Config } from '../config/schema.ts';
import type { Resources } from '../service/resources.ts';
import { ExpectedFailure } from './shell.ts';

/** Opens everything for one piece of work and closes it, however the work ends. */
export async function withResources<T>(
  config: Config,
  work: (resources: Resources) => Promise<T>,
): Promise<T> {
  const { openResources } = await import('../service/resources.ts');
  let resources: Resources;
  try {
    resources = await openResources(config);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new ExpectedFailure(error.message.split('\n'), 1, { cause: error });
  }
  try {
    return await work(resources);
  } finally {
    await resources.close();
  }
}

/** The same for commands that read: the schema must be there and current. */
export async function withSchema<T>(config: Config, work: (resources: Resources) => Promise<T>): Promise<T> {
  const { checkSchema, SchemaFault } = await import('../store/migrate.ts');
  return withResources(config, async (resources) => {
    try {
      await checkSchema(resources.database);
    } catch (error) {
      if (error instanceof SchemaFault) throw new ExpectedFailure(error.message, 1, { cause: error });
      throw error;
    }
    return work(resources);
  });
}
