import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

import {
  startScriptedProvider,
  type Behaviour,
  type ScriptedProvider,
} from '@orion/llm-adapters/scripted';

import { execute } from '../command-line/execute.ts';
import { createFakeContext } from './fake-context.ts';

export type Told = { readonly exitCode: number; readonly err: string };

/** A workspace, a home, a temporary folder and a model, all for one session that pauses. */
export type Place = {
  /** With what is typed on a terminal, or without a person. */
  readonly orion: (line: readonly string[], typed?: string) => Promise<Told>;
  readonly read: (path: string) => Promise<string | null>;
  readonly write: (path: string, text: string) => Promise<void>;
  /** The texts of files whose names say that they are a session's. */
  readonly beside: () => Promise<readonly string[]>;
  /** The options of `orion run` that lead here. */
  readonly options: readonly string[];
  readonly close: () => Promise<void>;
};

export type Mode = {
  readonly name: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** `.orion` cannot be made, as on a read-only disk. */
  readonly degraded?: boolean;
  /** The workspace is not the current folder. */
  readonly elsewhere?: boolean;
  readonly folder?: string;
  readonly strict?: boolean;
};

export async function openPlace(mode: Mode, behaviours: readonly Behaviour[]): Promise<Place> {
  const outer = await realpath(await mkdtemp(join(tmpdir(), 'orion-printed-')));
  const root = join(outer, mode.folder ?? 'all');
  const workspace = join(root, 'workspace');
  const [home, temporary, other] = ['home', 'temporary', 'other'].map((name) => join(root, name));
  for (const folder of [workspace, home, temporary, other]) {
    await mkdir(folder ?? '', { recursive: true });
  }
  if (mode.degraded === true) await writeFile(join(workspace, '.orion'), 'no folder');
  const provider: ScriptedProvider = await startScriptedProvider({
    shape: { chunk: 7 },
    behaviours: [...behaviours],
  });
  const current = mode.elsewhere === true ? (other ?? '') : workspace;
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = temporary;
  return {
    options: [
      '--base-url',
      provider.url,
      '--model',
      'm',
      ...(mode.elsewhere === true ? ['-C', relative(current, workspace)] : []),
    ],
    async orion(line, typed) {
      const context = createFakeContext({
        argv: line,
        terminal: typed !== undefined,
        homeDirectory: home ?? '',
        currentDirectory: current,
        environment: {
          WRITE_SESSION_IDLE_MS: '0',
          ...(mode.strict === true ? { WRITE_SESSION_STRICT: 'true' } : {}),
          ...mode.environment,
        },
      });
      if (typed !== undefined) context.typed.write(typed);
      const { exitCode } = await execute(context);
      return { exitCode, err: context.stderr.written() };
    },
    read: (path) => readFile(join(workspace, path), 'utf8').catch(() => null),
    write: (path, text) => writeFile(join(workspace, path), text),
    async beside() {
      const names = (await readdir(workspace)).filter((name) => name.includes('.orion-'));
      return Promise.all(names.map((name) => readFile(join(workspace, name), 'utf8')));
    },
    async close() {
      if (before === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = before;
      await provider.close();
      await rm(outer, { recursive: true, force: true });
    },
  };
}

/** The words of each command that is on a line of its own below a pause, as a shell reads them. */
export function printedCommands(err: string): readonly (readonly string[])[] {
  const commands = err.split('\n').filter((line) => line.startsWith('  orion '));
  // One shell for all of them: each says how many words it has, and then the words.
  const script = ['orion() { printf \'%s\\0\' "$#" "$@"; }', ...commands].join('\n');
  const said = execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1);
  const read: string[][] = [];
  for (let count = said.shift(); count !== undefined; count = said.shift()) {
    read.push(said.splice(0, Number(count)));
  }
  return read;
}
