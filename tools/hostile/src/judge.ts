import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { After, Attack } from './attack.ts';
import type { Ended } from './site.ts';

/** Beyond the honest run. */
export const MORE_MS = 10_000;
export const MORE_MEMORY: number = 150 * 1024 * 1024;

export type Honest = { readonly milliseconds: number; readonly memory: number | null };

/** Where the command keeps what is its own. */
const STATE = [
  /^workspace\/\.orion(\/|$)/u,
  /^home\/\.config(\/orion(\/|$)|$)/u,
  /^home\/\.cache(\/orion(\/|$)|$)/u,
  /^home\/(\.local|Library)(\/|$)/u,
];

/** Everything that went wrong; empty when the attack was held off. */
export async function judge(
  attack: Attack,
  after: After,
  before: ReadonlyMap<string, string>,
  then: ReadonlyMap<string, string>,
  honest: Honest,
): Promise<readonly string[]> {
  const { ended, site } = after;
  return [
    ...timeAndMemory(attack, ended, honest),
    ...ending(attack, ended),
    ...written(attack, before, then),
    ...(await leaked(site.key, site.root, ended, then)),
    ...[await attack.holds?.(after)].flatMap((why) => (typeof why === 'string' ? [why] : [])),
  ];
}

function timeAndMemory(attack: Attack, ended: Ended, honest: Honest): string[] {
  const wrong: string[] = [];
  const most = honest.milliseconds + MORE_MS + (attack.waits ?? 0);
  if (ended.tooLate) wrong.push(`did not end within ${seconds(most)}`);
  else if (ended.milliseconds > most) wrong.push(`took ${seconds(ended.milliseconds)}`);
  if (ended.memory !== null && honest.memory !== null) {
    const more = ended.memory - honest.memory;
    if (more > MORE_MEMORY + (attack.holdsBytes ?? 0))
      wrong.push(`took ${mebibytes(more)} more memory`);
  }
  return wrong;
}

function ending(attack: Attack, ended: Ended): string[] {
  if (ended.tooLate) return [];
  if (ended.signal !== null) return [`was ended by ${ended.signal}`];
  const wrong: string[] = [];
  const exits = attack.exits ?? [0, 1, 3, 5];
  if (ended.exitCode === null || !exits.includes(ended.exitCode))
    wrong.push(`ended with ${ended.exitCode}: ${lastLine(ended.stderr)}`);
  const said = `${ended.stdout}${ended.stderr}`;
  if (said.includes('INTERNAL_ERROR')) wrong.push('called it a defect of its own');
  if (/^\s+at .+:\d+:\d+\)?$/mu.test(ended.stderr)) wrong.push('printed a stack');
  // oxlint-disable-next-line no-control-regex -- what a terminal would act on is what is looked for
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\u009b]/u.test(ended.stderr))
    wrong.push('printed a control character');
  return wrong;
}

function written(
  attack: Attack,
  before: ReadonlyMap<string, string>,
  then: ReadonlyMap<string, string>,
): string[] {
  const may = (attack.mayWrite ?? ['a.txt']).map((path) => `workspace/${path}`);
  const changed = [...new Set([...before.keys(), ...then.keys()])].filter(
    (path) => before.get(path) !== then.get(path),
  );
  const wrong = changed.filter(
    (path) => !may.includes(path) && !STATE.some((own) => own.test(path)),
  );
  return wrong.length === 0 ? [] : [`wrote ${wrong.slice(0, 3).join(', ')}`];
}

/** The key in any form in what was printed, or in any file that was not there before. */
async function leaked(
  key: string,
  root: string,
  ended: Ended,
  then: ReadonlyMap<string, string>,
): Promise<readonly string[]> {
  const forms = [key, Buffer.from(key).toString('base64')].flatMap(partsOf);
  const holds = (text: string): boolean => forms.some((form) => text.includes(form));
  const wrong: string[] = [];
  if (holds(ended.stdout) || holds(ended.stderr)) wrong.push('printed the key');
  for (const [path, what] of then) {
    if (!what.startsWith('file') || path.startsWith('outside/')) continue;
    const [, , , size = '0'] = what.split(' ');
    if (Number(size) > 4_000_000) continue;
    const text = await readFile(join(root, path), 'latin1').catch(() => '');
    if (holds(text)) wrong.push(`kept the key in ${path}`);
  }
  return wrong;
}

const LEAK = 16;

/** So much of it would be worth having. */
function partsOf(text: string): readonly string[] {
  return Array.from({ length: text.length - LEAK + 1 }, (_, at) => text.slice(at, at + LEAK));
}

export function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

export function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MB`;
}

function lastLine(text: string): string {
  return (text.trim().split('\n').at(-1) ?? '').slice(0, 160);
}
