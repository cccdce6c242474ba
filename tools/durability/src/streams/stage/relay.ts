import { createServer, connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** What went over one connection to the command: the bytes, and when each of them was sent. */
export type RelayedConnection = {
  readonly remotePort: number;
  readonly pieces: readonly Buffer[];
  /** In order: up to which byte everything had been given to the socket at that time. */
  readonly sends: readonly { readonly at: number; readonly bytes: number }[];
  /** Of those bytes the ones that Node still holds. */
  queued(): number;
};

export type Relay = {
  readonly port: number;
  readonly connections: readonly RelayedConnection[];
  /** Where new connections go. */
  target: URL;
  /** Called after every send with the bytes sent so far on all connections. */
  onSend: (total: number) => void;
  /** Called when an answer with chunked encoding has ended. */
  onAnswerEnd: () => void;
  close(): Promise<void>;
};

const LAST_CHUNK = '0\r\n\r\n';

/**
 * Stands between the command and its provider, passes bytes on as they come and keeps the time of each: what a
 * kill may lose is judged by what had been sent, and neither end knows that.
 */
export async function startRelay(): Promise<Relay> {
  const connections: RelayedConnection[] = [];
  const sockets = new Set<Socket>();
  let total = 0;

  const server = createServer({ noDelay: true }, (client) => {
    const provider = connect({ port: Number(relay.target.port), host: relay.target.hostname });
    provider.setNoDelay(true);
    const pieces: Buffer[] = [];
    const sends: { at: number; bytes: number }[] = [];
    let bytes = 0;
    let ending = '';
    connections.push({
      remotePort: client.remotePort ?? 0,
      pieces,
      sends,
      queued: () => client.writableLength,
    });
    for (const [from, to] of [
      [client, provider],
      [provider, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      to.on('drain', () => from.resume());
    }
    client.on('data', (chunk) => {
      if (!provider.write(chunk)) client.pause();
    });
    provider.on('data', (chunk) => {
      pieces.push(chunk);
      bytes += chunk.length;
      total += chunk.length;
      sends.push({ at: performance.now(), bytes });
      if (!client.write(chunk)) provider.pause();
      ending = (ending + chunk.toString('latin1', Math.max(0, chunk.length - 5))).slice(-5);
      relay.onSend(total);
      if (ending === LAST_CHUNK) relay.onAnswerEnd();
    });
    // An orderly end comes after everything before it.
    provider.on('end', () => client.end());
    client.on('end', () => provider.end());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });

  const relay: Relay = {
    port: (server.address() as AddressInfo).port,
    connections,
    target: new URL('http://127.0.0.1:1'),
    onSend: () => undefined,
    onAnswerEnd: () => undefined,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  return relay;
}
