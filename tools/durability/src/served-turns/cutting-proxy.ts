/** Stands before a Postgres, and cuts connections after a statement has arrived there and before its answer is back. */
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** Sees what a client sends on one connection. @returns under which name its answer is to be cut; null to pass it on */
export type Choose = (sent: string) => string | null;

export type CuttingProxy = {
  readonly port: number;
  /** Statements whose answer was cut so far, by name. */
  readonly cuts: ReadonlyMap<string, number>;
  close(): void;
};

/** In the answer to a statement that was refused or found no row: nothing happened, and there is nothing to lose. */
const NOTHING = /SERROR\0|C[^]{4}(?:UPDATE|SELECT) 0\0/u;

/** @param onConnection called for each connection: what is chosen may depend on what was sent before */
export async function startCuttingProxy(
  target: number,
  onConnection: () => Choose,
): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  const cuts = new Map<string, number>();
  const server = createServer((client) => {
    const upstream = connect({ port: target, host: '127.0.0.1' });
    const choose = onConnection();
    let chosen: string | null = null;
    const end = (): void => {
      for (const socket of [client, upstream]) {
        sockets.delete(socket);
        socket.destroy();
      }
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', end).on('close', end);
    }
    client.on('data', (bytes) => {
      chosen = choose(bytes.toString('latin1')) ?? chosen;
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (chosen === null || NOTHING.test(bytes.toString('latin1'))) {
        chosen = null;
        client.write(bytes);
        return;
      }
      cuts.set(chosen, (cuts.get(chosen) ?? 0) + 1);
      end();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    cuts,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
