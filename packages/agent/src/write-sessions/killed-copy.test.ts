import { readFile } from 'node:fs/promises';

import { OrionError } from '@orion/contracts';
import type { SessionContent, SessionHandle } from '@orion/contracts';
import { SESSION_RECORD as RECORD } from '@orion/testkit/records';
import { expect, test } from 'vitest';

import { metadataOf, openStoredWorkspace } from '../testing/stored-workspace.ts';
import { useTestDatabase } from '../testing/test-database.ts';

/** Hazard: a process dies while it moves a long text to another one, and neither has all of it. */

const own = useTestDatabase();

const HELD = Array.from({ length: 30_000 }, (_, line) => `\u{1f600} ${line} undecided\n`).join('');

/** Its process dies behind so many statements from `arm` on: nothing that it asks for then is done. */
function mortal(statements: number): {
  arm: () => void;
  readonly change: (inner: SessionContent) => Partial<SessionContent>;
} {
  let left = Number.POSITIVE_INFINITY;
  const living = async <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
    left -= 1;
    if (left < 0) throw new OrionError({ code: 'STORE_UNAVAILABLE', message: 'It is dead' });
    return ask();
  };
  return {
    arm() {
      left = statements;
    },
    change: (inner) => ({
      append: (appends) => living(() => inner.append(appends)),
      release: (owner) => living(() => inner.release(owner)),
    }),
  };
}

const MOVES = {
  content: (handle: SessionHandle, text: string) => handle.append(text),
  'text set aside': (handle: SessionHandle, text: string) => handle.setAside(text),
};

test.each(
  ([1, 2, 3] as const).flatMap((statements) => [
    ['content', statements] as const,
    ['text set aside', statements] as const,
  ]),
)('a text that becomes %s is somewhere behind each statement: %i', async (kind, statements) => {
  const dying = mortal(statements);
  const { root, workspace } = await openStoredWorkspace(own, dying.change);
  const handle = await workspace.sessions.begin(await metadataOf(workspace));
  handle.appendPending(HELD);
  await handle.save(RECORD);
  dying.arm();
  for await (const text of handle.readPending()) MOVES[kind](handle, text);
  handle.clearPending();
  await handle.save(RECORD).catch(() => undefined);
  expect((await leftOf(root, handle.id)).includes(HELD)).toBe(true);
});

test.each([1, 2, 3])(
  'a text that its next owner sets aside is somewhere behind each statement: %i',
  async (statements) => {
    const first = await openStoredWorkspace(own, () => ({}));
    const { root, workspace } = first;
    const handle = await workspace.sessions.begin(await metadataOf(workspace));
    handle.appendPending(HELD);
    await handle.save(RECORD);
    await handle.release();
    const dying = mortal(statements);
    const next = await openStoredWorkspace(own, dying.change, { root });
    dying.arm();
    await next.workspace.sessions.claim(handle.id).catch(() => undefined);
    expect((await leftOf(root, handle.id)).includes(HELD)).toBe(true);
  },
);

/** All that whoever comes after the dead process has of the session. */
async function leftOf(root: string, id: string): Promise<string> {
  await own.execute('update write_session set beat_at = 0');
  const { workspace } = await openStoredWorkspace(own, () => ({}), { root });
  const { handle } = await workspace.sessions.claim(id);
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of handle.readContent()) text += decoder.decode(chunk, { stream: true });
  const { trailing } = await handle.remove();
  return trailing === undefined ? text : `${text}\n${await readFile(trailing, 'utf8')}`;
}
