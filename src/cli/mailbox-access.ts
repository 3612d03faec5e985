/** Opens the configured mailbox alone, for the commands that write into it as its upstream would. */
import type { Config } from '../config/schema.ts';
import type { Dialect } from '../dialect/port.ts';
import type { Mailbox } from '../mailbox/port.ts';
import { ExpectedFailure } from './shell.ts';

export interface MailboxAccess {
  readonly mailbox: Mailbox;
  readonly dialect: Dialect;
  /** Closes the connections, and stops an embedded server that was started for it. */
  close(): Promise<void>;
}

/** Opens the mailbox and the dialect that names its tables. Throws ExpectedFailure where either cannot be. */
export async function openMailboxFrom(config: Config): Promise<MailboxAccess> {
  const { databaseUrlOf, dialectOf, mailboxOf } = await import('../service/resources.ts');
  const dialect = await expected(dialectOf(config), 2);
  // A mailbox elsewhere needs no server of ours.
  const server = config.mailbox.url === 'embedded' ? await expected(databaseUrlOf(config), 1) : null;
  try {
    const mailbox = await expected(mailboxOf(config, dialect, server?.url ?? ''), 2);
    return {
      mailbox,
      dialect,
      close: async () => {
        await mailbox.close();
        await server?.close();
      },
    };
  } catch (error) {
    await server?.close();
    throw error;
  }
}

/** Opens the mailbox for one piece of work and closes it, however the work ends. */
export async function withMailbox<T>(
  config: Config,
  work: (access: MailboxAccess) => Promise<T>,
): Promise<T> {
  const access = await openMailboxFrom(config);
  try {
    return await work(access);
  } finally {
    await access.close();
  }
}

/**
 * Refuses to write into a mailbox that somebody else owns (contract, "Command line"): it must bear the marker of
 * `mailbox init`, or its name must have been repeated. A name that is repeated must be the right one in any case.
 */
export async function refuseForeign(mailbox: Mailbox, repeated: string | undefined): Promise<void> {
  if (repeated !== undefined) {
    if (repeated === mailbox.name) return;
    throw new ExpectedFailure(`--mailbox-name ${repeated}: the mailbox's database is ${mailbox.name}`, 2);
  }
  if (await mailbox.isOurs()) return;
  throw new ExpectedFailure(
    `the mailbox ${mailbox.name} was not made by 'msgx mailbox init'; to write into it all the same, add --mailbox-name ${mailbox.name}`,
  );
}

/** What goes wrong here is said in one line by its maker. */
async function expected<T>(promise: Promise<T>, exitCode: 1 | 2): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new ExpectedFailure(error.message.split('\n'), exitCode, { cause: error });
  }
}
