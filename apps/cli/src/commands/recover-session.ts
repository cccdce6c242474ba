import { createHash } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { resolve } from 'node:path';

import type { FinalizeRequest, Orion } from '@orion/agent';
import { defined, OrionError, type ErrorCode } from '@orion/contracts';

import { wantsResultLine } from '../command-line/json-wanted.ts';
import type { TurnOptions } from '../command-line/options.ts';
import { usage } from '../command-line/usage.ts';
import type { CommandContext } from '../process/context.ts';
import type { CommandResult } from '../process/finish.ts';
import { plural } from '../terminal/format.ts';
import { withPlace } from '../rendering/write-lines.ts';
import { configure } from './configure.ts';
import { placeOf } from './place.ts';
import { runWithOrion } from './run-turn.ts';

export type RecoverSessionOptions = TurnOptions & {
  /** A text that was rescued, instead of an id. */
  readonly from?: string;
  readonly finalize?: boolean;
  readonly endAt?: number;
  readonly answer?: NonNullable<FinalizeRequest['answer']>;
  readonly onConflict?: NonNullable<FinalizeRequest['onConflict']>;
  readonly discard?: boolean;
  readonly out?: string;
};

/** `orion recover-session <id>`: continues a session, writes what it saved, puts it aside or copies it out. */
export async function recoverSessionCommand(
  context: CommandContext,
  id: string | undefined,
  options: RecoverSessionOptions,
): Promise<CommandResult> {
  const { from, finalize, endAt, answer, onConflict, discard, out } = options;
  checkCombination(id, options);
  const configuration = await configure(context, options);
  const json = wantsResultLine(context.argv, context.environment);
  const withModel = finalize !== true && discard !== true && out === undefined;
  const place = placeOf(context, configuration.workspace);
  const setup = { context, configuration, withModel, json };
  return runWithOrion(setup, async ({ orion, signal, show }) => {
    const sessionId =
      id ?? (await orion.adoptSession(resolve(context.currentDirectory, from ?? '')));
    if (out !== undefined) {
      await copyOut(context, orion, sessionId, resolve(context.currentDirectory, out));
      return;
    }
    await orion.housekeep();
    if (discard === true) {
      const { attic } = await orion.discardSession(sessionId);
      const command = withPlace(`orion recover-session ${sessionId}`, place);
      context.screen.line(`Put aside in ${attic}; \`${command}\` still finds it for 30 days.`);
    } else if (finalize === true) {
      const decision = defined({ endAt, answer, onConflict });
      await show(orion.finalizeSession({ sessionId, signal, ...decision }));
    } else {
      await show(orion.recoverSession({ sessionId, signal }));
    }
  });
}

function checkCombination(id: string | undefined, options: RecoverSessionOptions): void {
  const { from, finalize, discard, out, endAt, answer, onConflict } = options;
  if ((id === undefined) === (from === undefined)) {
    throw usage(
      id === undefined ? 'There is no session to recover.' : '--from takes the place of the id.',
      'Name an id of `orion list-sessions`, or the printed file with --from.',
    );
  }
  const actions = named({ '--finalize': finalize, '--discard': discard, '--out': out });
  if (actions.length > 1) {
    throw usage(`${actions.join(' and ')} exclude each other.`, 'Choose one of them.');
  }
  const [action] = actions;
  if (from !== undefined && action !== undefined && action !== '--finalize') {
    throw usage(
      `${action} is for a session, and --from names a file.`,
      'Copy or remove the file by hand, or go on with it.',
    );
  }
  const [stray] = named({ '--end-at': endAt, '--answer': answer, '--on-conflict': onConflict });
  if (stray !== undefined && finalize !== true) {
    throw usage(`${stray} is an answer for --finalize.`, `Add --finalize, or leave ${stray} out.`);
  }
}

/** The options that were given. */
function named(options: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.keys(defined(options));
}

/** Copies the saved bytes to a file that did not exist. */
async function copyOut(
  context: CommandContext,
  orion: Orion,
  sessionId: string,
  path: string,
): Promise<void> {
  const chunks = orion.readSession(sessionId)[Symbol.asyncIterator]();
  // The first read shows whether there is such a session, before a file is made.
  let next = await chunks.next();
  const file = await open(path, 'wx').catch((error: unknown) => {
    throw outFileError(path, error);
  });
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    while (next.done !== true) {
      await file.writeFile(next.value);
      hash.update(next.value);
      bytes += next.value.length;
      next = await chunks.next();
    }
    await file.sync();
    await file.close();
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(path, { force: true });
    throw OrionError.isInstance(error) ? error : outFileError(path, error);
  }
  context.screen.line(
    `Copied ${plural(bytes, 'byte')} to ${path}; sha256 ${hash.digest('hex').slice(0, 12)}. The session is unchanged.`,
  );
}

const FILE_ERRORS: Readonly<Record<string, ErrorCode>> = {
  ENOSPC: 'DISK_FULL',
  EACCES: 'PERMISSION_DENIED',
  EPERM: 'PERMISSION_DENIED',
};

function outFileError(path: string, cause: unknown): OrionError {
  const { code = 'unknown reason' } = cause as NodeJS.ErrnoException;
  if (code === 'EEXIST') {
    const message = `${path} exists already and was not changed.`;
    return new OrionError({ code: 'OUT_FILE_EXISTS', message, cause });
  }
  const message = `${path} cannot be written (${code}).`;
  return new OrionError({ code: FILE_ERRORS[code] ?? 'WRITE_FAILED', message, cause });
}
