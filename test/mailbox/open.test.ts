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

  it('takes mysql:// and mariadb:// and tells the database name without connecting', async () => {
    const mailbox = await open('mysql://user:p%40ss@127.0.0.1:1/north%20mail');
    expect(mailbox).toMatchObject({ kind: 'mysql', name: 'north mail' });
    expect(await open('mariadb://user@[::1]/aodb')).toMatchObject({ kind: 'mysql', name: 'aodb' });
    expect(await mailbox.probe()).toBe(false);
    await expect(open('mysql://user@127.0.0.1:1')).rejects.toThrow(/names no database/);
  });

  it('refuses other schemes and lists what is supported', async () => {
    await expect(open('oracle://host/x')).rejects.toThrow(
      /no adapter for oracle:\/\/.*postgres:\/\/, mysql:\/\//,
    );
  });

  it('loads a module path and refuses one without the function', async () => {
    const file = new URL('../kit/mailbox-module.ts', import.meta.url).pathname;
    expect(await open(file)).toMatchObject({ name: 'from a module' });
    await expect(open('node:path')).rejects.toThrow(/exports no function openMailbox/);
    await expect(open('./no-such-module.js')).rejects.toThrow(/neither a URL .* nor a module/);
  });
});
