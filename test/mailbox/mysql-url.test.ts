import { describe, expect, it } from 'vitest';
import { readMysqlUrl } from '../../src/mailbox/mysql-url.ts';

describe('readMysqlUrl', () => {
  it('decodes every part and fills in the port', async () => {
    expect(await readMysqlUrl('mysql://us%40er:p%3Aw@[::1]/north%20mail', null)).toEqual({
      host: '::1',
      port: 3306,
      user: 'us@er',
      password: 'p:w',
      database: 'north mail',
      tls: null,
    });
    expect(await readMysqlUrl('mysql://u@host:3307/a', 'b')).toMatchObject({ port: 3307, database: 'b' });
  });

  it('takes TLS by the names of MySQL, with a certificate file, and refuses anything else', async () => {
    const tls = async (query: string) => (await readMysqlUrl(`mysql://u@h/d?${query}`, null)).tls;
    expect(await tls('ssl-mode=DISABLED')).toBeNull();
    expect(await tls('ssl-mode=required')).toEqual({ rejectUnauthorized: false });
    expect(await tls('ssl-mode=verify-identity')).toEqual({ rejectUnauthorized: true, verifyIdentity: true });
    const file = new URL(import.meta.url).pathname;
    expect(await tls(`ssl-ca=${file}`)).toMatchObject({
      rejectUnauthorized: true,
      ca: expect.stringContaining('readMysqlUrl') as string,
    });
    for (const address of ['10.0.0.1', '[::1]']) {
      const url = `mysql://u@${address}/d?ssl-mode=verify-identity`;
      await expect(readMysqlUrl(url, null)).rejects.toThrow(/needs a host name/);
    }
    await expect(tls('ssl-mode=preferred')).rejects.toThrow(/disabled, required, verify-ca/);
    await expect(tls('useSSL=false')).rejects.toThrow(/unknown parameter useSSL/);
    await expect(readMysqlUrl('mysql://u@h/', null)).rejects.toThrow(/names no database/);
  });
});
