import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { createFakeAdapter, textReply } from '@orion/testkit';
import { expect, it } from 'vitest';

import { openOrion, temporaryDirectory } from '../testing/set-up.ts';
import { collect } from '@orion/testkit';

/** Hazard: instructions that a person did not write, cannot see, or that nobody reads. */

async function openBoth() {
  const workspace = await temporaryDirectory();
  const userDirectory = await temporaryDirectory();
  const adapter = createFakeAdapter([textReply('Yes.')]);
  const traced: string[] = [];
  const orion = await openOrion({
    workspace,
    userDirectory,
    adapter,
    onTrace: ({ type, details }) => traced.push(`${type} ${JSON.stringify(details)}`),
  });
  return { workspace, userDirectory, adapter, orion, traced };
}

it('are the own ones of the user and then those of the project, in the prompt, in the traces, and for who asks', async () => {
  const { workspace, userDirectory, adapter, orion, traced } = await openBoth();
  await writeFile(join(userDirectory, 'AGENTS.md'), 'Be brief.');
  await writeFile(join(workspace, 'AGENTS.md'), 'Use tabs.');
  expect(await orion.readInstructions()).toEqual([
    { name: 'AGENTS.md', content: 'Be brief.', truncated: false, origin: 'user' },
    { name: 'AGENTS.md', content: 'Use tabs.', truncated: false, origin: 'workspace' },
  ]);
  await collect(orion.runTurn({ content: 'x' }));
  const prompt = adapter.requests[0]?.messages[0]?.content ?? '';
  expect(
    prompt.endsWith(
      'Instructions of the user, for every project, from AGENTS.md:\nBe brief.\n\n' +
        'Instructions of this project, from AGENTS.md:\nUse tabs.',
    ),
  ).toBe(true);
  const facts = '{"file":"AGENTS.md","characters":9,"truncated":false}';
  expect(traced).toEqual(
    expect.arrayContaining([`user_instructions ${facts}`, `project_instructions ${facts}`]),
  );
});

it('are cut at 32 KiB each, and may be a link where the user made it', async () => {
  const { userDirectory, orion } = await openBoth();
  const notes = join(await temporaryDirectory(), 'notes.md');
  await writeFile(notes, 'x'.repeat(32 * 1024 + 1));
  await symlink(notes, join(userDirectory, 'AGENTS.md'));
  expect(await orion.readInstructions()).toEqual([
    { name: 'AGENTS.md', content: 'x'.repeat(32 * 1024), truncated: true, origin: 'user' },
  ]);
});

it('that cannot be used are left out, and the person is told which', async () => {
  const { userDirectory, orion } = await openBoth();
  await mkdir(join(userDirectory, 'AGENTS.md'));
  expect(await orion.readInstructions()).toEqual([]);
  const events = await collect(orion.runTurn({ content: 'x' }));
  const notices = events.flatMap((event) => (event.type === 'chunk' ? [event.content] : []));
  expect(notices.join('')).toContain(`Not used: ${join(userDirectory, 'AGENTS.md')} (`);
});
