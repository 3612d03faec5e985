/** Mailbox names: the dialect's, where the configuration does not name others. */
import type { Config } from './schema.ts';

/** Names with the shape of the dialect port's MailboxNames. */
export type TableNames = {
  readonly [T in keyof Config['mailbox']['tables']]: {
    readonly [F in keyof Config['mailbox']['tables'][T]]: string;
  };
};

/** The names given by `msgx.mailbox.tables.*` over the dialect's defaults. */
export function mailboxNames(defaults: TableNames, given: Config['mailbox']['tables']): TableNames {
  return {
    inbound: over(defaults.inbound, given.inbound),
    outbound: over(defaults.outbound, given.outbound),
  };
}

function over<N extends Readonly<Record<string, string>>>(
  defaults: N,
  given: Readonly<Record<keyof N, string | null>>,
): N {
  const names = Object.entries(defaults).map(([field, name]) => [field, given[field] ?? name]);
  return Object.fromEntries(names) as N;
}
