/** The proxy itself, against a server that sends back what it gets. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startProxy, type TcpProxy } from './tcp-proxy.ts';
import { until } from './until.ts';

/** An end of a connection and what has happened on it. */
interface Peer {
  readonly socket: Socket;
  readonly heard: () => string;
  /** How it ended; null while it is open. */
  readonly ended: () => 'closed' | 'reset' | null;
}

function peer(socket: Socket): Peer {
  let heard = '';
  let ended: 'closed' | 'reset' | null = null;
  socket.setEncoding('utf8').on('data', (text: string) => (heard += text));
  socket.on('error', () => (ended = 'reset'));
  socket.on('close', () => (ended ??= 'closed'));
  onTestFinished(() => void socket.destroy());
  return { socket, heard: () => heard, ended: () => ended };
}

async function echo(): Promise<{ readonly proxy: TcpProxy; readonly accepted: Peer[] }> {
  const accepted: Peer[] = [];
  const server = createServer((socket) => {
    accepted.push(peer(socket));
    socket.on('data', (text) => socket.write(text));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { proxy: await startProxy({ host: '127.0.0.1', port }), accepted };
}

function dial(proxy: TcpProxy): Peer {
  return peer(connect(proxy.port, '127.0.0.1'));
}

async function hears(who: Peer | undefined, text: string): Promise<void> {
  await until(`"${text}"`, () => (who?.heard() === text ? true : null), {
    timeoutMs: 5_000,
    standing: () => who?.heard(),
  });
}

async function ends(who: Peer | undefined, how: 'closed' | 'reset'): Promise<void> {
  await until(how, () => who?.ended() ?? null, { timeoutMs: 5_000 });
  expect(who?.ended()).toBe(how);
}

describe('the TCP proxy', () => {
  it('passes what is said, and the end', async () => {
    const { proxy, accepted } = await echo();
    const client = dial(proxy);
    client.socket.write('a');
    await hears(client, 'a');
    client.socket.end('b');
    await ends(accepted[0], 'closed');
    expect(accepted[0]?.heard()).toBe('ab');
  });

  it('delays each chunk in either direction, on open connections too, and keeps their order and the end', async () => {
    const { proxy, accepted } = await echo();
    const client = dial(proxy);
    client.socket.write('1');
    await hears(client, '1');
    proxy.delay(120);
    const asked = performance.now();
    client.socket.write('2');
    await hears(accepted[0], '12');
    expect(performance.now() - asked).toBeGreaterThan(110);
    await hears(client, '12');
    expect(performance.now() - asked).toBeGreaterThan(230);
    // What was sent under the longer delay still comes first.
    client.socket.write('3');
    await until('the chunk at the proxy', () => (client.socket.bytesWritten === 3 ? true : null));
    await new Promise((resolve) => setTimeout(resolve, 20));
    proxy.heal();
    client.socket.end('4');
    await ends(accepted[0], 'closed');
    expect(accepted[0]?.heard()).toBe('1234');
  });

  it('cuts all connections and refuses new ones until it is healed', async () => {
    const { proxy, accepted } = await echo();
    const client = dial(proxy);
    client.socket.write('a');
    await hears(client, 'a');
    proxy.refuse();
    proxy.cut();
    await Promise.all([ends(client, 'reset'), ends(accepted[0], 'reset')]);
    await ends(dial(proxy), 'reset');
    proxy.heal();
    const next = dial(proxy);
    next.socket.write('b');
    await hears(next, 'b');
  });

  it('swallows everything in silence, the end too; what was silent stays so, new connections pass after it', async () => {
    const { proxy, accepted } = await echo();
    const client = dial(proxy);
    client.socket.write('a');
    await hears(client, 'a');
    proxy.silence();
    const meanwhile = dial(proxy);
    client.socket.write('b');
    meanwhile.socket.write('c');
    await once(meanwhile.socket, 'connect');
    proxy.heal();
    client.socket.write('d');
    const next = dial(proxy);
    next.socket.write('e');
    await hears(next, 'e');
    client.socket.destroy();
    await ends(client, 'closed');
    next.socket.write('f');
    await hears(next, 'ef');
    expect([client.heard(), meanwhile.heard(), meanwhile.ended()]).toEqual(['a', '', null]);
    expect(accepted.map((one) => [one.heard(), one.ended()])).toEqual([
      ['a', null],
      ['', null],
      ['ef', null],
    ]);
  });

  it.each(['server', 'client'] as const)(
    'half-open: the %s is gone, the other side stays open and silent, new connections pass',
    async (gone) => {
      const { proxy, accepted } = await echo();
      const client = dial(proxy);
      client.socket.write('a');
      await hears(client, 'a');
      proxy.halfOpen(gone);
      const [lost, left] = gone === 'server' ? [accepted[0], client] : [client, accepted[0]];
      await ends(lost, 'reset');
      left?.socket.write('b');
      const next = dial(proxy);
      next.socket.write('c');
      await hears(next, 'c');
      expect([left?.heard(), left?.ended()]).toEqual(['a', null]);
    },
  );

  it('loses the answer to what is said last of some texts on one connection, across chunks', async () => {
    const { proxy, accepted } = await echo();
    const other = dial(proxy);
    const client = dial(proxy);
    client.socket.write('commit;');
    await hears(client, 'commit;');
    const lost = proxy.loseAnswer(['finish', 'commit'], 'mit');
    other.socket.write('commit;');
    await hears(other, 'commit;');
    client.socket.write('fin');
    await hears(client, 'commit;fin');
    client.socket.write('ish;');
    await hears(client, 'commit;finish;');
    client.socket.write('commit;');
    await lost;
    await ends(client, 'reset');
    expect(client.heard()).toBe('commit;finish;');
    expect(accepted.map((one) => one.heard())).toContain('commit;finish;commit;');
    // Once.
    other.socket.write('finish commit;');
    await hears(other, 'commit;finish commit;');
  });

  it('holds what a client says, and its end, until it is told to go on', async () => {
    const { proxy, accepted } = await echo();
    const held = proxy.hold(['begin', 'commit']);
    const client = dial(proxy);
    client.socket.write('begin');
    await hears(client, 'begin');
    client.socket.write('commit');
    const release = await held;
    client.socket.destroy();
    // Another connection is not concerned.
    const other = dial(proxy);
    other.socket.write('begin commit');
    await hears(other, 'begin commit');
    expect([accepted[0]?.heard(), accepted[0]?.ended()]).toEqual(['begin', null]);
    release();
    await ends(accepted[0], 'closed');
    expect(accepted[0]?.heard()).toBe('begincommit');
  });
});
