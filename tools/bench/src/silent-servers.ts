import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

export type LocalServer = { readonly port: number; close(): void };

/** Takes every connection and never answers. */
export function startSilentServer(): Promise<LocalServer> {
  return listen(() => undefined);
}

/**
 * Stands before a server and falls silent at the second piece of data that holds `marker`: from then on nothing that
 * is sent arrives and nothing comes back, on any connection. It comes to when the last connection has gone.
 */
export function startFaintingServer(target: string, marker: string): Promise<LocalServer> {
  const { hostname, port } = new URL(target);
  const clients = new Set<Socket>();
  let seen = 0;
  return listen((client) => {
    clients.add(client);
    const upstream = connect(Number(port), hostname);
    upstream.setNoDelay();
    const close = (): void => {
      clients.delete(client);
      if (clients.size === 0) seen = 0;
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      socket.on('error', close);
      socket.on('close', close);
    }
    client.on('data', (data) => {
      if (data.includes(marker)) seen += 1;
      if (seen < 2) upstream.write(data);
    });
    upstream.on('data', (data) => {
      if (seen < 2) client.write(data);
    });
  });
}

function listen(onConnection: (socket: Socket) => void): Promise<LocalServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.setNoDelay();
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    // Without a reader the end of the other side would not be heard of.
    socket.resume();
    onConnection(socket);
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      resolve({
        port: (server.address() as AddressInfo).port,
        close() {
          for (const socket of sockets) socket.destroy();
          server.close();
        },
      });
    });
  });
}
