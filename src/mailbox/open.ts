/** Opens the mailbox adapter that a URL or module path names. */
import { isAbsolute, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openMysqlMailbox } from './mysql.ts';
import type { MailboxOptions } from './options.ts';
import type { Mailbox } from './port.ts';
import { openPostgresMailbox } from './postgres.ts';

const ADAPTERS: Readonly<Record<string, (options: MailboxOptions) => Promise<Mailbox>>> = {
  'postgres:': openPostgresMailbox,
  'postgresql:': openPostgresMailbox,
  'mysql:': openMysqlMailbox,
  'mariadb:': openMysqlMailbox,
};

/**
 * Opens a mailbox; connections are made when first used. Throws an Error that says what is supported where the
 * URL's scheme is unknown or the module does not provide a mailbox.
 */
export async function openMailbox(options: MailboxOptions): Promise<Mailbox> {
  const scheme = /^([a-z][a-z0-9+.-]+:)\/\//i.exec(options.url)?.[1]?.toLowerCase();
  if (scheme === undefined) return openModule(options);
  const adapter = ADAPTERS[scheme];
  if (adapter === undefined) {
    throw new Error(
      `msgx.mailbox.url: no adapter for ${scheme}// – supported are postgres://, mysql:// and the path of a module that exports openMailbox`,
    );
  }
  return adapter(options);
}

async function openModule(options: MailboxOptions): Promise<Mailbox> {
  const path = options.url;
  const isFile = path.startsWith('.') || isAbsolute(path);
  let module: unknown;
  try {
    module = await import(isFile ? pathToFileURL(resolve(path)).href : path);
  } catch (error) {
    throw new Error(
      `msgx.mailbox.url: ${path} is neither a URL such as postgres://user@host/database or mysql://user@host/database nor a module that can be loaded`,
      { cause: error },
    );
  }
  if (!providesMailbox(module)) {
    throw new Error(`msgx.mailbox.url: module ${path} exports no function openMailbox`);
  }
  return module.openMailbox(options);
}

function providesMailbox(
  module: unknown,
): module is { openMailbox(options: MailboxOptions): Promise<Mailbox> } {
  return (
    typeof module === 'object' &&
    module !== null &&
    'openMailbox' in module &&
    typeof module.openMailbox === 'function'
  );
}
