import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';

import { test } from './support/test.ts';

/**
 * Hazard: the entry sets flags of the engine, and with some of them a thread that compiles waits for a collection
 * which the main thread no longer makes, because it exits and waits for that thread. The command then never ends.
 */

const ENTRY = new URL('../../apps/cli/src/main.ts', import.meta.url);
const PROCESSES = 24;
const AT_ONCE = 4;

/** Hot functions, garbage, and an exit while the compiler is still at work. */
const BUSY = `
import v8 from 'node:v8';
for (const flag of JSON.parse(process.argv[2])) v8.setFlagsFromString(flag);
const functions = Array.from({ length: 400 }, (_, seed) => new Function('count', 'text',
  'let sum = ' + seed + '; for (let at = 0; at < count; at++) {' +
  ' sum = (sum * 31 + text.charCodeAt(at % text.length)) | 0;' +
  ' if (sum & 1) sum ^= ' + seed + '; else sum += at; } return { sum, of: [sum, count] };'));
const kept = [];
for (let round = 0; round < Number(process.argv[3]); round++) {
  for (const each of functions) {
    const made = each(20, 'some text');
    if (round % 16 === 0) kept.push(made);
  }
}
process.exit(0);
`;

test('a process with the flags of the entry always ends', async ({ machine }) => {
  const source = await readFile(ENTRY, 'utf8');
  const flags = [...source.matchAll(/setFlagsFromString\('([^']+)'\)/gu)].map((match) => match[1]);
  expect(flags.length).toBeGreaterThan(0);
  const script = join(machine.root, 'busy.mjs');
  await writeFile(script, BUSY);

  const codes: (number | null)[] = [];
  let next = 0;
  async function some(): Promise<void> {
    while (next < PROCESSES) {
      next += 1;
      const rounds = String(100 + ((next * 61) % 400));
      codes.push(await run([script, JSON.stringify(flags), rounds]));
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, some));
  expect(codes).toEqual(Array.from({ length: PROCESSES }, () => 0));
});

/** Null: it was killed, because it did not end. */
function run(args: readonly string[]): Promise<number | null> {
  return new Promise((resolve, reject) => {
    spawn(process.execPath, args, { stdio: 'ignore', timeout: 15_000, killSignal: 'SIGKILL' })
      .on('error', reject)
      .on('close', resolve);
  });
}
