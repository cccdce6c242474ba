import { connect } from 'node:net';
import type { Socket } from 'node:net';

/** A connection to a port of loopback. Whoever opens it ends it. */
export function openSocket(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => resolve(socket));
    socket.once('error', reject);
  });
}

/** What arrives on a socket until it ends, as one character a byte. */
export function readToEnd(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.setEncoding('latin1');
    socket.on('data', (data: string) => (text += data));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text));
  });
}

/** Sends bytes as they are, and answers what came back until the server ended the connection. */
export async function sendBytes(port: number, bytes: string | Uint8Array): Promise<string> {
  const socket = await openSocket(port);
  const answer = readToEnd(socket);
  socket.write(bytes);
  return answer;
}
