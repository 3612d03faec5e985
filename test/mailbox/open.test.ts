import { describe, expect, it } from 'vitest';
import { openMailbox } from '../../src/mailbox/open.ts';
import { MAILBOX_NAMES } from '../kit/mailbox.ts';

const open = (url: string) => openMailbox({ url, names: MAILBOX_NAMES, timeoutMs: 100 });

describe('openMailbox', () => {
  it('takes postgres:// and tells the database name without connecting', async () => {
    const mailbox = await open('postgres://user@127.0.0.1:1/north%20mail');
    expect(mailbox).toMatchObject({ kind: 'postgres', name: 'north mail' });
    expect(await open('postgresql://user@127.0.0.1:1')).toMatchObject({ name: 'user' });
    expect(await mailbox.probe()).toBe(false);
  });

  it('refuses other schemes and lists what is supported', async () => {
    await expect(open('oracle://host/x')).rejects.toThrow(/no adapter for oracle:\/\/.*postgres:\/\//);
  });

  it('loads a module path and refuses one without the function', async () => {
    const file = new URL('../kit/mailbox-module.ts', import.meta.url).pathname;
    expect(await open(file)).toMatchObject({ name: 'from a module' });
    await expect(open('node:path')).rejects.toThrow(/exports no function openMailbox/);
    await expect(open('./no-such-module.js')).rejects.toThrow(/neither a URL .* nor a module/);
  });
});
