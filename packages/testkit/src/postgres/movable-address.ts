import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

export type MovableAddress = {
  readonly port: number;
  /** From now on nothing gets through, in neither direction, as when a network is cut: nobody is told. */
  hold(): void;
  /** Connections break, and new ones go to that port of loopback. */
  moveTo(port: number): void;
  close(): Promise<void>;
};

/** A port of loopback behind which one server takes the place of another. */
export async function startMovableAddress(firstTarget: number): Promise<MovableAddress> {
  const sockets = new Set<Socket>();
  let target = firstTarget;
  let isHeld = false;
  const keep = (socket: Socket, end: () => void): void => {
    sockets.add(socket);
    socket
      .setNoDelay()
      .on('error', end)
      .on('close', () => {
        sockets.delete(socket);
        end();
      });
  };
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((client) => {
    const upstream = isHeld ? null : connect(target, '127.0.0.1');
    const end = (): void => {
      client.destroy();
      upstream?.destroy();
    };
    keep(client, end);
    if (upstream === null) return;
    keep(upstream, end);
    client.on('data', (bytes) => upstream.write(bytes));
    upstream.on('data', (bytes) => client.write(bytes));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    hold() {
      isHeld = true;
      for (const socket of sockets) socket.pause();
    },
    moveTo(port) {
      target = port;
      isHeld = false;
      cut();
    },
    async close() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
