/** A TCP proxy that cuts or silences connections, for faults between us and a server. */
import { createServer, connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface TcpProxy {
  readonly port: number;
  /** Ends all connections at once, with a reset. */
  cut(): void;
  /** From now on swallows everything in both directions; connections stay open and new ones are accepted. */
  silence(): void;
  /** From now on new connections are reset at once. */
  refuse(): void;
  /** Passes everything again (to connections opened from now on). */
  heal(): void;
}

/** Starts a proxy to a server, on any free port or the given one; stopped when the test ends. */
export async function startProxy(
  target: { readonly host: string; readonly port: number },
  port = 0,
): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let mode: 'pass' | 'silent' | 'refuse' = 'pass';
  const server = createServer((inbound) => {
    sockets.add(inbound);
    inbound.on('close', () => sockets.delete(inbound));
    inbound.on('error', () => undefined);
    if (mode === 'refuse') {
      inbound.resetAndDestroy();
      return;
    }
    const outbound = connect(target.port, target.host);
    sockets.add(outbound);
    outbound.on('close', () => {
      sockets.delete(outbound);
      if (mode !== 'silent') inbound.destroy();
    });
    outbound.on('error', () => undefined);
    inbound.on('close', () => outbound.destroy());
    inbound.on('data', (chunk) => {
      if (mode !== 'silent') outbound.write(chunk);
    });
    outbound.on('data', (chunk) => {
      if (mode !== 'silent') inbound.write(chunk);
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const address = server.address();
  const cut = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  onTestFinished(async () => {
    cut();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    cut,
    silence: () => void (mode = 'silent'),
    refuse: () => void (mode = 'refuse'),
    heal: () => void (mode = 'pass'),
  };
}

/** The URL with host and port replaced by the proxy's. */
export function through(url: string, proxy: TcpProxy): string {
  const changed = new URL(url);
  changed.hostname = '127.0.0.1';
  changed.port = String(proxy.port);
  return changed.toString();
}

/** Host and port of a URL. */
export function targetOf(url: string): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}
