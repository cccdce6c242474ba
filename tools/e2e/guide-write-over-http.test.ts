// @module-tag long
// Hazard: the commands of the guide do not do what it says.
import { execFile, execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

import { expect } from 'vitest';

import { serve } from './support/serve.ts';
import { test } from './support/test.ts';

const GUIDE = new URL('../../docs/guides/write-over-http.md', import.meta.url);

function hasCurl(): boolean {
  try {
    // With --fail-with-body.
    const [, major = 0, minor = 0] = /curl (\d+)\.(\d+)/u
      .exec(execFileSync('curl', ['--version'], { encoding: 'utf8' }))!
      .map(Number);
    return major > 7 || (major === 7 && minor >= 76);
  } catch {
    return false;
  }
}

test(
  'the guide writes 50 MB through two broken uploads',
  { timeout: 60_000 },
  async ({ machine, skip }) => {
    skip(!hasCurl(), 'there is no curl');
    const { url, running } = await serve(machine, [], { env: { ORION_SERVER_TOKEN: '' } });
    const blocks = [...(await readFile(GUIDE, 'utf8')).matchAll(/^```sh\n(.*?)^```$/gmsu)];
    const commands = blocks.map(([, block = '']) => block).join('\n');
    expect(commands).toContain('http://127.0.0.1:4310/');
    const script = `set -e\n${commands.replace('http://127.0.0.1:4310', url)}`;
    const { stdout } = await promisify(execFile)('sh', ['-c', script], { cwd: machine.workspace });
    const said = stdout.trim().split('\n');
    const offsets = said
      .flatMap((line) => /^continuing at (\d+)$/u.exec(line)?.[1] ?? [])
      .map(Number);
    expect(said.filter((line) => line === 'broken off')).toHaveLength(2);
    expect(said.at(-1)).toBe('written');
    expect(offsets).toHaveLength(3);
    expect(offsets).toEqual(offsets.toSorted((a, b) => a - b));
    expect(offsets[0]).toBe(0);
    expect(offsets[2]).toBeGreaterThan(offsets[1] ?? 0);
    expect(offsets[2]).toBeLessThan(50_000_000);
    const { receipt } = JSON.parse(String(await machine.read('receipt.json'))) as {
      receipt: Record<string, unknown>;
    };
    expect(receipt).toMatchObject({
      bytes: 50_000_000,
      target_file: 'docs/report.txt',
      warnings: [],
    });
    running.kill('SIGTERM');
    expect((await running.finished).exitCode).toBe(0);
    expect((await machine.run(['undo'])).exitCode).toBe(0);
    expect(await machine.exists('docs/report.txt')).toBe(false);
  },
);
