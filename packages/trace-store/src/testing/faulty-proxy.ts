import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';

/**
 * What happens to the next query that holds the marker: its answer is lost with the connection, the connection goes
 * as soon as the query is sent, or the answer never comes.
 */
export type Fault = 'lose-answer' | 'cut-at-once' | 'hang';

export type FaultyProxy = {
  /** The database's URL by way of this proxy. */
  readonly url: string;
  faults: number;
  arm(fault: Fault, marker: string): void;
  /** Cuts every connection and refuses new ones, or takes them again. */
  setOpen(open: boolean): void;
  close(): Promise<void>;
};

/** Stands between a client and a Postgres, and fails where it is told to. */
export async function startFaultyProxy(target: string): Promise<FaultyProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let armed: { fault: Fault; marker: string } | null = null;
  let isOpen = true;

  const server = createServer((client) => {
    sockets.add(client);
    if (!isOpen) {
      client.destroy();
      return;
    }
    const upstream = connect(Number(port), hostname);
    sockets.add(upstream);
    let answering = true;
    let cutAtAnswer = false;
    for (const socket of [client, upstream]) {
      socket.setNoDelay();
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        // What was sent is still to arrive.
        upstream.end();
      });
    }
    client.on('data', (data) => {
      upstream.write(data);
      if (armed === null || !data.includes(armed.marker)) return;
      const { fault } = armed;
      armed = null;
      proxy.faults += 1;
      answering = false;
      if (fault === 'cut-at-once') client.destroy();
      cutAtAnswer = fault === 'lose-answer';
    });
    upstream.on('data', (data) => {
      if (answering) client.write(data);
      else if (cutAtAnswer) client.destroy();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The proxy has no port');
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String(address.port);

  const cutAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const proxy: FaultyProxy = {
    url: url.href,
    faults: 0,
    arm(fault, marker) {
      armed = { fault, marker };
    },
    setOpen(open) {
      isOpen = open;
      if (!open) cutAll();
    },
    async close() {
      cutAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}
