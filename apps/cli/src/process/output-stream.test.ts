import { Writable } from 'node:stream';

import { describe, expect, it } from 'vitest';

import { openOutputStream } from './output-stream.ts';

type Slow = {
  readonly stream: NodeJS.WriteStream;
  readonly taken: string[];
  readonly take: () => void;
  readonly fail: (code: string) => void;
};

/** A reader that takes one piece when it is told to. */
function createSlowStream(): Slow {
  const taken: string[] = [];
  let release: ((error?: Error) => void) | null = null;
  const stream = new Writable({
    highWaterMark: 10,
    decodeStrings: false,
    write(chunk: string, _encoding, callback) {
      taken.push(chunk);
      release = callback;
    },
  });
  const settle = (error?: Error): void => {
    const callback = release;
    release = null;
    callback?.(error);
  };
  return {
    stream: stream as unknown as NodeJS.WriteStream,
    taken,
    take: () => {
      settle();
    },
    fail: (code) => {
      settle(Object.assign(new Error(code), { code }));
    },
  };
}

async function isSettled(promise: Promise<unknown> | undefined): Promise<boolean> {
  return await Promise.race([
    Promise.resolve(promise).then(() => true),
    new Promise<boolean>((resolve) => {
      setImmediate(resolve, false);
    }),
  ]);
}

describe('an output', () => {
  it('lets the writer wait while its reader is slow', async () => {
    const { stream, take } = createSlowStream();
    const output = openOutputStream(stream);
    expect(output.write('short')).toBeUndefined();
    const waiting = output.write('more than ten');
    expect(await isSettled(waiting)).toBe(false);
    take();
    expect(await isSettled(waiting)).toBe(false);
    take();
    expect(await isSettled(waiting)).toBe(true);
  });

  it('is flushed when the reader has everything', async () => {
    const { stream, taken, take } = createSlowStream();
    const output = openOutputStream(stream);
    void output.write('a');
    void output.write('b');
    const flushed = output.flush();
    expect(await isSettled(flushed)).toBe(false);
    take();
    take();
    take();
    await flushed;
    expect(taken.join('')).toBe('ab');
  });

  it('lets nobody wait for it any longer when the command has to end', async () => {
    const { stream } = createSlowStream();
    const output = openOutputStream(stream);
    const waiting = output.write('more than ten');
    output.hurry();
    await waiting;
    expect(output.write('again, more than ten')).toBeUndefined();
  });

  it('goes on quietly when its reader is gone, and never leaves anyone waiting', async () => {
    const { stream, fail } = createSlowStream();
    const output = openOutputStream(stream);
    const waiting = output.write('more than ten');
    fail('EPIPE');
    await waiting;
    expect(output.write('again')).toBeUndefined();
    await output.flush();
    expect(output.failure()).toBeNull();
  });

  it('remembers any other failure', async () => {
    const { stream, fail } = createSlowStream();
    const output = openOutputStream(stream);
    const waiting = output.write('more than ten');
    fail('ENOSPC');
    await waiting;
    await output.flush();
    expect(output.failure()?.message).toBe('ENOSPC');
  });
});
