// @module-tag long
import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';

import { test } from './support/test.ts';
import { waitFor } from './support/wait.ts';

/** Hazard: a plan of a few lines that keeps the command busy for minutes, and deaf (B4). */

const replaceAll = (find: string, content: string): object => ({
  type: 'replace_all',
  find,
  content,
});

test('six replacements of a by a thousand a are refused at once', async ({ machine }) => {
  await machine.write('a.txt', 'a\n');
  const operations = Array.from({ length: 6 }, () => replaceAll('a', 'a'.repeat(1000)));
  await machine.write(
    'plan.json',
    JSON.stringify({ intent: 'grow', target_file: 'a.txt', operations }),
  );
  const ended = await machine.run(['apply-plan', 'plan.json']);
  expect(ended.exitCode).toBe(1);
  expect(ended.stdout).toContain(
    'Operation 3 (replace_all) failed: `a.txt` would have more than 1073741824 bytes. (CONTENT_TOO_LARGE)\n',
  );
  expect(String(await machine.read('a.txt'))).toBe('a\n');
});

test('ten thousand appends are made, in the time of one command', async ({ machine }) => {
  await machine.write('a.txt', 'first\n');
  const operations = Array.from({ length: 10_000 }, (_, index) => ({
    type: 'append',
    content: `line ${index}\n`,
  }));
  await machine.write(
    'plan.json',
    JSON.stringify({ intent: 'append', target_file: 'a.txt', operations }),
  );
  const ended = await machine.run(['apply-plan', 'plan.json']);
  expect(ended.exitCode, ended.stderr).toBe(0);
  const text = String(await machine.read('a.txt'));
  expect(text.split('\n')).toHaveLength(10_002);
  expect(text.endsWith('line 9998\nline 9999\n')).toBe(true);
});

test('SIGTERM ends a plan that computes', async ({ machine, skip }) => {
  skip(process.platform !== 'linux', 'there is no /proc to read');
  const text = `${'x'.repeat(8 * 1024 * 1024)}m\n`;
  await machine.write('a.txt', text);
  // Each looks through all of the file: minutes of work, of which a plan has the right.
  const operations = Array.from({ length: 10_000 }, () => replaceAll('m', 'm'));
  await machine.write(
    'plan.json',
    JSON.stringify({ intent: 'search', target_file: 'a.txt', operations }),
  );
  const command = machine.start(['apply-plan', 'plan.json']);
  await waitFor('a second of its work', async () => (await secondsOf(command.pid)) > 1);
  command.kill('SIGTERM');
  const { signal } = await command.finished;
  // It stopped by itself: a stop that takes too long ends by SIGKILL.
  expect(signal).not.toBe('SIGKILL');
  expect(String(await machine.read('a.txt'))).toBe(text);
});

/** What the process has computed for so far. */
async function secondsOf(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(' ');
  return (Number(fields[13]) + Number(fields[14])) / 100;
}
