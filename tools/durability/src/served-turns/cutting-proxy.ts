/** Stands before a Postgres, and cuts connections after a statement has arrived there and before its answer is back. */
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

import type { Random } from '@orion/common';

export type CuttingProxy = {
  readonly port: number;
  /** Statements whose answer was cut so far. */
  readonly cuts: () => number;
  close(): void;
};

const CHANGES = /commit|insert into|update turn/iu;

/** Cuts the answer to about `share` of the statements that change something. */
export async function startCuttingProxy(
  target: number,
  share: number,
  random: Random,
): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  let cuts = 0;
  const server = createServer((client) => {
    const upstream = connect({ port: target, host: '127.0.0.1' });
    let isCut = false;
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
      if (CHANGES.test(bytes.toString('latin1')) && random.next() < share) isCut = true;
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (!isCut) {
        client.write(bytes);
        return;
      }
      cuts += 1;
      end();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    cuts: () => cuts,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
