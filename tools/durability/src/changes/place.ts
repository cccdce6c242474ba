/** A workspace of its own for one attempt, and what lies in it. */
import { systemClock } from '@orion/contracts';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

import type { Workspace } from '@orion/contracts';
import { createWorkspace } from '@orion/workspace';
import type { ProcessIdentity } from '@orion/workspace';

/** Paths and their text; null for one that is not there. */
export type Files = Readonly<Record<string, string | null>>;

export type Place = {
  readonly root: string;
  /** As a process that will have died by the time that the next one starts. */
  open(): Promise<Workspace>;
  /** As the next process. */
  reopen(): Promise<Workspace>;
  filesAt(paths: readonly string[]): Files;
  /** Temporary files, half-made directories, locks: what has no owner. */
  leftovers(): readonly string[];
  /** Lets two hours pass for what was left, so that it does not look like work in progress. */
  age(): void;
  remove(): void;
};

const identity = (startedAt: string) => (): Promise<ProcessIdentity> =>
  Promise.resolve({ pid: process.pid, host: 'here', pidNamespace: '', startedAt });

/** As what this process is. */
export function openPlain(root: string): Promise<Workspace> {
  return createWorkspace({ root, clock: systemClock, userKeyDirectory: keysOf(root) });
}

/** Beside the place: what starts take back has to be known for this user's, and no fault is about the key. */
function keysOf(root: string): string {
  return join(dirname(root), `keys-of-${basename(root)}`);
}

/** In memory where that is possible: what fails is made up, and thousands of real syncs take their time. */
export const TEMPORARY: string = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** `makers` are the processes that change files there: made up ones of this process, or real ones that get killed. */
export function makePlace(before: Files, makers: 'made up' | 'real' = 'made up'): Place {
  const root = realpathSync(mkdtempSync(join(TEMPORARY, 'orion-faults-')));
  for (const [path, text] of Object.entries(before)) {
    if (text === null) continue;
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const userKeyDirectory = keysOf(root);
  mkdirSync(userKeyDirectory);
  writeFileSync(join(userKeyDirectory, 'session.key'), `${'0f'.repeat(32)}\n`);
  return {
    root,
    // No process with this start time is running, so it counts as dead.
    open: () =>
      createWorkspace({ root, clock: systemClock, userKeyDirectory, identity: identity('gone') }),
    reopen: () =>
      makers === 'real'
        ? openPlain(root)
        : createWorkspace({
            root,
            clock: systemClock,
            userKeyDirectory,
            identity: identity('here'),
          }),
    filesAt: (paths) =>
      Object.fromEntries(
        paths.map((path) => [path, existsSync(join(root, path)) ? textAt(join(root, path)) : null]),
      ),
    leftovers: () => leftoversIn(root),
    age: () => {
      const past = Date.now() / 1000 - 2 * 60 * 60;
      for (const name of leftoversIn(root)) utimesSync(join(root, name), past, past);
    },
    remove: () => {
      for (const path of [root, userKeyDirectory]) rmSync(path, { recursive: true, force: true });
    },
  };
}

function textAt(path: string): string {
  return readFileSync(path, 'utf8');
}

const LEFT_OVER: readonly RegExp[] = [
  /(?:^|\/)\.[^/]*\.tmp$/u,
  /^\.orion\/temporaries\/./u,
  /^\.orion\/backups\/\.draft-/u,
  /^\.orion\/locks\/./u,
  /^\.orion\/plans\/./u,
  /^\.orion\/logs\/write_sessions\/\./u,
];

function leftoversIn(root: string): readonly string[] {
  const names = readdirSync(root, { recursive: true }).map((name) => String(name));
  return names.filter(
    (name) =>
      LEFT_OVER.some((pattern) => pattern.test(name)) && lstatSync(join(root, name)) !== undefined,
  );
}
