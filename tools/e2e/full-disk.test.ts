import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';

import type { ReadyAnswer } from '@orion/contracts';

import type { Finished } from './support/run.ts';
import { LAST_WORD, numbered, writeMessages, writePieces } from './support/scripts.ts';
import { serve } from './support/serve.ts';
import { CAN_MOUNT, withDisk } from './support/small-disk.ts';
import { test } from './support/test.ts';
import { waitFor } from './support/wait.ts';

const SKIPPED = CAN_MOUNT ? '' : ' (SKIPPED: a small tmpfs cannot be mounted here)';
const TEXT = numbered('a line of the document with number', 1, 2000);

test.skipIf(!CAN_MOUNT)(
  `R057: when the disk of the sessions fills up, the session continues in memory with one warning${SKIPPED}`,
  ({ machine }) =>
    withDisk(join(machine.root, 'small'), 'size=64k', async (small) => {
      const provider = await machine.provider(
        writeMessages('a.txt', [`${TEXT}DONE`], { shape: { chunk: 500 } }),
      );
      const ended = await machine.ask(provider, ['--json'], { env: { ORION_STATE_DIR: small } });
      expect(ended.exitCode, ended.stderr).toBe(0);
      expect(String(await machine.read('a.txt'))).toBe(TEXT);
      expect(ended.result().receipts[0]?.persistence).toBe('memory');
      const notices = ended
        .events()
        .flatMap((event) =>
          event.type === 'chunk' && event.source === 'notice' ? [event.content] : [],
        );
      expect(notices.filter((text) => text.includes('memory'))).toHaveLength(1);
    }),
);

test.skipIf(!CAN_MOUNT)(
  `R057: a read-only state directory: in memory from the start, one warning, the file is written${SKIPPED}`,
  ({ machine }) =>
    withDisk(join(machine.root, 'small'), 'ro,size=64k', async (small) => {
      const provider = await machine.provider(writeMessages('a.txt', ['one\ntwo\nDONE']));
      const ended = await machine.ask(provider, ['--json'], { env: { ORION_STATE_DIR: small } });
      expect(ended.exitCode, ended.stderr).toBe(0);
      expect(String(await machine.read('a.txt'))).toBe('one\ntwo\n');
      expect(ended.result().receipts[0]?.persistence).toBe('memory');
      expectWarnedAtStart(ended);
    }),
);

test.concurrent('R017, R057: a file where the state directory should be: one warning, before the text', async ({
  machine,
}) => {
  await machine.write('state', 'a file\n');
  const provider = await machine.provider(writeMessages('a.txt', ['one\ntwo\nDONE']));
  const ended = await machine.ask(provider, ['--json'], {
    env: { ORION_STATE_DIR: join(machine.workspace, 'state') },
  });
  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(String(await machine.read('a.txt'))).toBe('one\ntwo\n');
  expectWarnedAtStart(ended);
});

test.skipIf(!CAN_MOUNT)(
  `R097: text that only memory holds is validated and corrected like any other${SKIPPED}`,
  ({ machine }) =>
    withDisk(join(machine.root, 'small'), 'ro,size=64k', async (small) => {
      const provider = await machine.provider({
        behaviours: [
          { when: { lastUser: 'not valid text' }, reply: { text: '#1: -' } },
          ...writePieces('a.txt', ['A', '\uD83D', 'B\n', 'DONE']),
          LAST_WORD,
        ],
      });
      const ended = await machine.ask(provider, ['--json'], { env: { ORION_STATE_DIR: small } });
      expect(ended.exitCode, ended.stderr).toBe(0);
      expect(String(await machine.read('a.txt'))).toBe('A-B\n');
      expect(ended.result().receipts[0]).toMatchObject({
        persistence: 'memory',
        validation_summary: { attempts: 1, corrected: 1, replaced: 0 },
      });
    }),
);

test.skipIf(!CAN_MOUNT)(
  `R089: when the disk of the workspace is full, the session pauses with DISK_FULL and keeps every byte${SKIPPED}`,
  ({ machine }) =>
    withDisk(join(machine.root, 'small'), 'size=64k', async (small) => {
      const provider = await machine.provider(
        writeMessages('a.txt', [`${TEXT}DONE`], { shape: { chunk: 500 } }),
      );
      const ended = await machine.ask(provider, ['-C', small, '--json'], {
        env: { ORION_STATE_DIR: join(machine.root, 'state') },
      });
      expect(ended.exitCode, ended.stderr).toBe(3);
      const [paused] = ended.result().paused;
      expect(paused).toMatchObject({ code: 'DISK_FULL', bytes: TEXT.length });
      // Neither the file nor a temporary one lies about.
      expect(await readdir(small)).toEqual([]);
      expect((await stat(join(paused?.session_dir ?? '', 'content.txt'))).size).toBe(TEXT.length);
    }),
);

test.skipIf(!CAN_MOUNT)(
  `R057: when nothing but memory can hold the text, all of it is put on another disk before the process ends${SKIPPED}`,
  ({ machine }) =>
    withDisk(join(machine.root, 'small'), 'size=64k', async (small) => {
      const elsewhere = join(machine.root, 'elsewhere');
      mkdirSync(elsewhere);
      const provider = await machine.provider(
        writeMessages('a.txt', [`${TEXT}DONE`], { shape: { chunk: 500 } }),
      );
      const ended = await machine.ask(provider, ['-C', small], { env: { TMPDIR: elsewhere } });
      expect(ended.exitCode, ended.stderr).toBe(3);
      const name = (await readdir(elsewhere)).find((each) => each.startsWith('orion-'));
      const folder = join(elsewhere, name ?? '');
      const rescued = join(folder, 'content.txt');
      expect(await readFile(rescued, 'utf8')).toBe(TEXT);
      expect((await stat(folder)).mode & 0o777).toBe(0o700);
      expect((await stat(rescued)).mode & 0o777).toBe(0o600);
      const command = `orion recover-session --from ${rescued} --finalize -C ../small`;
      expect(ended.stderr).toContain(`  ${command}\n`);

      // R279: it works once there is room; then nothing is left of what lay elsewhere.
      execFileSync('mount', ['-o', 'remount,size=4m', small], { stdio: 'ignore' });
      const recovered = await machine.run(command.split(' ').slice(1));
      expect(recovered.exitCode, recovered.stderr).toBe(0);
      expect(await readFile(join(small, 'a.txt'), 'utf8')).toBe(TEXT);
      expect(recovered.stderr).not.toContain('finalized_by_hand');
      expect(await readdir(elsewhere)).not.toContain(name);
    }),
);

test.skipIf(!CAN_MOUNT)(
  `a server whose disk is full is not ready, lives, and is ready again when there is room${SKIPPED}`,
  ({ machine }) =>
    withDisk(join(machine.root, 'small'), 'size=2m', async (small) => {
      const { ask, running } = await serve(machine, [], { env: { ORION_STATE_DIR: small } });
      const ready = async () => {
        const { status, json } = await ask('/health/ready', { token: null });
        return [status, (json as ReadyAnswer).services.disk];
      };
      const filler = join(small, 'filler');
      await writeFile(filler, Buffer.alloc(4 * 1024 * 1024)).catch(() => undefined);
      expect(await ready()).toEqual([503, 'full']);
      expect((await ask('/health/live', { token: null })).status).toBe(200);
      rmSync(filler);
      await waitFor('room', async () => (await ready())[0] === 200);
      running.kill('SIGTERM');
      expect((await running.finished).exitCode).toBe(0);
    }),
);

/** A crash would lose what only memory holds: a person hears of it while there is nothing to lose. */
function expectWarnedAtStart(ended: Finished): void {
  const told = ended.events().flatMap((event) => {
    if (event.type === 'write_session' && event.bytes > 0) return ['text'];
    const isWarning =
      event.type === 'chunk' && event.source === 'notice' && event.content.includes('memory only');
    return isWarning ? ['warning'] : [];
  });
  expect(told[0]).toBe('warning');
  expect(told.filter((each) => each === 'warning')).toHaveLength(1);
}
