import { createHash } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { resolve } from 'node:path';

import type { FinalizeRequest, Orion } from '@orion/agent';
import { defined, OrionError } from '@orion/contracts';

import { wantsResultLine } from '../command-line/json-wanted.ts';
import type { TurnOptions } from '../command-line/options.ts';
import type { CommandContext } from '../process/context.ts';
import type { CommandResult } from '../process/finish.ts';
import { plural } from '../terminal/format.ts';
import { withPlace } from '../rendering/write-lines.ts';
import { configure } from './configure.ts';
import { placeOf } from './place.ts';
import { runWithOrion } from './run-turn.ts';
import { turnProvider } from './turn-provider.ts';

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

/** `orion recover-session <id>`: goes on with a session, writes what it saved, puts it aside or copies it out. */
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
  const setup = {
    context,
    configuration,
    json,
    ...(withModel ? { provider: await turnProvider(configuration) } : {}),
  };

  const place = placeOf(context, configuration.workspace);
  return runWithOrion(setup, async ({ orion, signal, show }) => {
    const sessionId =
      id ?? (await orion.adoptSession(resolve(context.currentDirectory, from ?? '')));
    if (out !== undefined) {
      await copyOut(context, orion, sessionId, resolve(context.currentDirectory, out));
    } else if (discard === true) {
      await orion.housekeep();
      const { attic } = await orion.discardSession(sessionId);
      context.screen.line(
        `Put aside in ${attic}; \`${withPlace(`orion recover-session ${sessionId}`, place)}\` still finds it for 30 days.`,
      );
    } else if (finalize === true) {
      await orion.housekeep();
      const decision = defined({ endAt, answer, onConflict });
      await show(orion.finalizeSession({ sessionId, signal, ...decision }));
    } else {
      await orion.housekeep();
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
  const actions = [
    finalize === true ? '--finalize' : '',
    discard === true ? '--discard' : '',
    out === undefined ? '' : '--out',
  ].filter((name) => name !== '');
  if (actions.length > 1) {
    throw usage(`${actions.join(' and ')} exclude each other.`, 'Choose one of them.');
  }
  if (from !== undefined && (discard === true || out !== undefined)) {
    const option = discard === true ? '--discard' : '--out';
    throw usage(
      `${option} is for a session, and --from names a file.`,
      'Copy or remove the file by hand, or go on with it.',
    );
  }
  if (finalize === true) return;
  const stray = [
    endAt === undefined ? '' : '--end-at',
    answer === undefined ? '' : '--answer',
    onConflict === undefined ? '' : '--on-conflict',
  ].find((name) => name !== '');
  if (stray !== undefined) {
    throw usage(`${stray} is an answer for --finalize.`, `Add --finalize, or leave ${stray} out.`);
  }
}

function usage(message: string, hint: string): OrionError {
  return new OrionError({ code: 'USAGE', message, hint });
}

/** Copies the saved bytes to a file that did not exist. */
async function copyOut(
  context: CommandContext,
  orion: Orion,
  sessionId: string,
  path: string,
): Promise<void> {
  const chunks = orion.readSession(sessionId)[Symbol.asyncIterator]();
  // The first read tells whether there is such a session, before a file is made.
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
    `Copied ${plural(bytes, 'byte')} to ${path}; sha256 ${hash.digest('hex').slice(0, 12)}. The session stays as it is.`,
  );
}

function outFileError(path: string, error: unknown): OrionError {
  const code = (error as NodeJS.ErrnoException).code ?? 'unknown reason';
  if (code === 'EEXIST') {
    return new OrionError({
      code: 'OUT_FILE_EXISTS',
      message: `${path} exists already and was not changed.`,
      cause: error,
    });
  }
  return new OrionError({
    code:
      code === 'ENOSPC'
        ? 'DISK_FULL'
        : code === 'EACCES' || code === 'EPERM'
          ? 'PERMISSION_DENIED'
          : 'WRITE_FAILED',
    message: `${path} cannot be written (${code}).`,
    cause: error,
  });
}
