import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { expect, test, vi } from 'vitest';
import { startPostgres } from './start-postgres.ts';

const module = new URL('start-postgres.ts', import.meta.url).href;

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => {
      resolve(false);
    });
  });
}

function foldersOf(processId: number | undefined): string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith(`orion-pg-${processId}-`));
}

test(
  'a server ends with the process that started it, however that ends, and leaves nothing behind',
  { tags: ['long'], timeout: 60_000 },
  async () => {
    const program = `import { startPostgres } from ${JSON.stringify(module)};
    console.log((await startPostgres()).port); setInterval(() => {}, 1000);`;
    const owner = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [text] = (await once(owner.stdout, 'data')) as [Buffer];
    const port = Number(text);
    expect(await answers(port)).toBe(true);
    owner.kill('SIGKILL');
    await vi.waitFor(
      async () => {
        expect(await answers(port)).toBe(false);
      },
      { timeout: 20_000 },
    );

    const next = await startPostgres();
    expect(foldersOf(owner.pid)).toEqual([]);
    expect(foldersOf(process.pid)).toHaveLength(1);
    expect(await answers(next.port)).toBe(true);
    await next.stop();
    expect(await answers(next.port)).toBe(false);
    expect(foldersOf(process.pid)).toEqual([]);
  },
);
