/** A mailbox adapter in a module of its own: it serves nothing but its name. */
import type { MailboxOptions } from '../../src/mailbox/options.ts';

export async function openMailbox(options: MailboxOptions): Promise<{ name: string; url: string }> {
  return { name: 'from a module', url: options.url };
}
