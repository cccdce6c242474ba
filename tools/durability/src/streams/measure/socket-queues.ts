import { readFileSync } from 'node:fs';

/** The kernel's table of connections at one time; undefined where it has none. */
export function readSocketTable(): string | undefined {
  try {
    return readFileSync('/proc/net/tcp', 'latin1');
  } catch {
    return undefined;
  }
}

/**
 * Bytes that were written to a loopback connection and that the other end has not read yet: they lie in the
 * kernel, and no program can save them.
 */
export function unreadBytes(table: string, localPort: number, remotePort: number): number {
  const here = hexPort(localPort);
  const there = hexPort(remotePort);
  const received = findQueues(table, there, here)?.received ?? 0;
  const sent = findQueues(table, here, there)?.sent ?? 0;
  // Unacknowledged bytes have usually arrived long before their acknowledgement; only while the receiver's window
  // is full do they still wait on this side.
  return received + (received >= FULL_WINDOW_BYTES ? sent : 0);
}

const FULL_WINDOW_BYTES = 16 * 1024;

function findQueues(
  table: string,
  local: string,
  remote: string,
): { readonly sent: number; readonly received: number } | undefined {
  // Columns: number, local address, remote address, state, send queue:receive queue.
  const row = new RegExp(
    `[0-9A-F]{8}:${local} [0-9A-F]{8}:${remote} [0-9A-F]{2} ([0-9A-F]{8}):([0-9A-F]{8})`,
  ).exec(table);
  if (row === null) return undefined;
  return {
    sent: Number.parseInt(row[1] ?? '', 16),
    received: Number.parseInt(row[2] ?? '', 16),
  };
}

function hexPort(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, '0');
}
