/** What lies between a browser and its server, and misbehaves when a test says so. */
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

import { onTestFinished } from 'vitest';

/** `silent`: connections stay open, and nothing comes. `buffering`: as `passing`, but streams are kept to their end. */
export type ProxyMode = 'passing' | 'silent' | 'buffering';

export type PageProxy = {
  readonly port: number;
  readonly leadTo: (port: number) => void;
  readonly cut: () => void;
  /** For what arrives from now on. */
  readonly become: (mode: ProxyMode) => void;
  /** Answers have another text instead, of the same length, wherever it arrives in one piece. */
  readonly rewrite: (text: string, other: string) => void;
  /** From now on nothing comes of the streams that are open. */
  readonly silenceStreams: () => void;
  /** Each stream from now on ends within the event behind so many whole ones; where that is null, it is not cut. */
  readonly cutStreams: (afterEvents: () => number | null) => void;
  /** From now on the server does not hear behind which event a stream is to begin, and sends all of them. */
  readonly forgetPlaces: () => void;
};

const STREAM = /^content-type: text\/event-stream/imu;
const PLACE = /^last-event-id: /imu;
const DATA = '\ndata: ';

export async function startProxy(): Promise<PageProxy> {
  let target = 0;
  let mode: ProxyMode = 'passing';
  const rewrites: (readonly [text: string, other: string])[] = [];
  const rewritten = (bytes: Buffer): Buffer =>
    rewrites.length === 0
      ? bytes
      : Buffer.from(
          rewrites.reduce((text, pair) => text.replaceAll(...pair), bytes.toString('latin1')),
          'latin1',
        );
  const sockets = new Set<Socket>();
  const streams = new Set<Socket>();
  const silent = new Set<Socket>();
  let forgets = false;
  let cutAfter = (): number | null => null;
  /** Whole events that still pass. */
  const left = new Map<Socket, number>();
  /** How many of these bytes come before the place where their stream is cut. */
  const passing = (stream: Socket, bytes: Buffer): number => {
    let events = left.get(stream);
    if (events === undefined) return bytes.length;
    for (let at = bytes.indexOf(DATA); at !== -1; at = bytes.indexOf(DATA, at + 1)) {
      if (events === 0) return at + DATA.length;
      events -= 1;
    }
    left.set(stream, events);
    return bytes.length;
  };
  const server = createServer((client) => {
    const behind = connect({ port: target, host: '127.0.0.1' });
    let kept: Buffer[] = [];
    for (const [one, other] of [
      [client, behind],
      [behind, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        if (kept.length > 0 && one === behind) client.end(Buffer.concat(kept));
        else other.destroy();
      });
    }
    client.on('data', (asked: Buffer) => {
      const text = asked.toString('latin1');
      behind.write(forgets ? Buffer.from(text.replace(PLACE, 'x-place: '), 'latin1') : asked);
    });
    client.on('end', () => behind.end());
    behind.on('data', (given: Buffer) => {
      const bytes = rewritten(given);
      if (STREAM.test(bytes.toString('latin1'))) {
        streams.add(behind);
        const events = cutAfter();
        if (events !== null) left.set(behind, events);
      }
      const whole = passing(behind, bytes);
      if (whole < bytes.length) {
        left.delete(behind);
        client.end(bytes.subarray(0, whole));
        behind.destroy();
        return;
      }
      if (mode === 'silent' || silent.has(behind)) return;
      if (mode === 'buffering' && streams.has(behind)) kept.push(bytes);
      else client.write(bytes);
      if (bytes.toString('latin1').endsWith('0\r\n\r\n')) {
        client.write(Buffer.concat(kept));
        kept = [];
        streams.delete(behind);
      }
    });
  });
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    cut();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    leadTo: (given) => (target = given),
    cut,
    become: (given) => (mode = given),
    rewrite(text, other) {
      if (text.length !== other.length) throw new Error('the length of an answer would change');
      rewrites.push([text, other]);
    },
    silenceStreams: () => {
      for (const stream of streams) silent.add(stream);
    },
    cutStreams: (given) => (cutAfter = given),
    forgetPlaces: () => (forgets = true),
  };
}
