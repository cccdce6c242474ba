/**
 * Imported by servers before their own code: the first of them that comes to it freezes, and no other one: when the
 * answer has come that makes it the owner of a turn, a while behind that, or right before it puts a file in its place.
 */
import { writeFileSync } from 'node:fs';
import { Socket } from 'node:net';

import { interceptDisk } from '@orion/testkit/disk-faults';

const { ORION_STOP_AT: at = '', ORION_STOPPED: mark = '' } = process.env;
const ACQUIRE = 'update turn set epoch = (turn.epoch / ';
/** By then its first turn streams, and is not over. */
const STREAMS_MS = 1_000;
/** Where the file of a task comes to lie. */
const TARGET = /\/notes\/\d+\.md$/u;

if (at === 'claim') onClaim(stop);
if (at === 'stream') onClaim(() => setTimeout(stop, STREAMS_MS));
if (at === 'commit') await stopAtCommit();

function onClaim(act: () => void): void {
  const original = Object.getPrototypeOf(Socket.prototype) as Pick<Socket, 'write'>;
  const write = function (this: Socket, ...args: Parameters<Socket['write']>): boolean {
    const [data] = args as unknown as [string | Uint8Array];
    if (Buffer.from(data).includes(ACQUIRE) && Reflect.deleteProperty(Socket.prototype, 'write'))
      this.prependOnceListener('data', act);
    return original.write.apply(this, args);
  };
  // Writable: the program may give a socket of its own a `write` of its own.
  Object.defineProperty(Socket.prototype, 'write', {
    value: write,
    configurable: true,
    writable: true,
  });
}

async function stopAtCommit(): Promise<void> {
  const disk = await interceptDisk();
  disk.use(({ name, to = '' }) => {
    if ((name === 'link' || name === 'rename') && TARGET.test(to)) {
      disk.use(null);
      stop();
    }
    return null;
  });
}

function stop(): void {
  try {
    writeFileSync(mark, '', { flag: 'wx' });
  } catch {
    // Another one has.
    return;
  }
  process.kill(process.pid, 'SIGSTOP');
}
