import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';

/** Starts listening on loopback and returns the port. `port` 0 chooses a free one. */
export async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Stops listening and waits until the last connection is closed. */
export async function stopListening(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
}
