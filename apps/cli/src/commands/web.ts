import { OrionError } from '@orion/contracts';
import type { HttpErrorBody, PageLinkAnswer, ServerAddress } from '@orion/contracts';

import type { TurnOptions } from '../command-line/options.ts';
import type { CommandContext } from '../process/context.ts';
import { sanitizeLine } from '../terminal/sanitize.ts';
import { printJson, withOrion } from './with-orion.ts';

export type WebOptions = TurnOptions & { readonly signOutAll?: boolean };

/** A server that answers nothing for so long does not run, or hangs. */
const PATIENCE_MS = 5000;

/** `orion web`: a log-in link for the page of the server that runs here, or the end of all its log-ins. */
export async function webCommand(context: CommandContext, options: WebOptions): Promise<void> {
  const { environment, screen, stdout } = context;
  await withOrion(context, options, { createStore: false }, async ({ orion }) => {
    const server = await orion.serverFiles.findServer();
    if (server === null || !isRunning(server))
      throw notRunning('No server is running for this folder.');
    const { ORION_SERVER_TOKEN: given = '' } = environment;
    const token = given === '' ? (await orion.serverFiles.keepServerToken()).token : given;
    if (options.signOutAll === true) {
      await ask(server, token, 'DELETE', '/api/page/sessions');
      if (options.json === true) await printJson(context, { signedOut: true });
      else
        screen.line('All log-ins of the page have been ended, and earlier links no longer work.');
      return;
    }
    const { path } = (await ask(server, token, 'POST', '/api/page/links')) as PageLinkAnswer;
    const url = `${server.url}${path}`;
    if (options.json === true) await printJson(context, { url });
    else {
      await stdout.write(`${sanitizeLine(url)}\n`);
      screen.line('Open it within five minutes; it works once.', 'faint');
    }
  });
}

/** Whatever listens where a server has died must not be sent its token. */
function isRunning({ pid }: ServerAddress): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function ask(
  { url }: ServerAddress,
  token: string,
  method: 'POST' | 'DELETE',
  path: string,
): Promise<unknown> {
  let answer: Response;
  try {
    answer = await fetch(`${url}${path}`, {
      method,
      redirect: 'error',
      signal: AbortSignal.timeout(PATIENCE_MS),
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(method === 'POST' ? { body: '{}' } : {}),
    });
  } catch (error) {
    throw notRunning(`The server at ${url} does not answer.`, error);
  }
  const body: unknown = await answer.json().catch((error: unknown) => {
    throw notRunning(`What answers at ${url} is not an Orion server.`, error);
  });
  if (answer.ok) return body;
  const { code, message } = (body as HttpErrorBody).error;
  throw new OrionError({ code, message });
}

function notRunning(message: string, cause?: unknown): OrionError {
  return new OrionError({ code: 'SERVER_NOT_RUNNING', message, cause });
}
