import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Script } from '@orion/llm-adapters/scripted';

import { prompts } from './support/requests.ts';
import { at, type Sandbox, type SessionOnDisk } from './support/sandbox.ts';
import { numbered, sha256, writeDocument } from './support/scripts.ts';
import { longTest, test } from './support/test.ts';

const ROWS = numbered('row', 1, 60, 2);
const HALF = numbered('row', 1, 30, 2);
const ROWS_SHA = 'f333715b158f6dca8effbd05b021f385d0e3c2ed76f1a23b750b385421841571';

test.concurrent('A4: a killed write is offered on a terminal, and Enter makes the file whole', async ({
  machine,
}) => {
  const provider = await machine.provider(rows());
  const session = await killHalfway(machine, provider);

  const terminal = machine.terminal(['run', ...at(provider)]);
  await terminal.waitForOutput('Recover previous write session? (Y/n)');
  expect(terminal.output()).toMatch(/Interrupted: rows\.txt \(create\), 30 lines, \d+ s ago\./u);
  expect(await machine.exists('rows.txt')).toBe(false);
  terminal.type('\r');
  const ended = await terminal.finished;

  expect(ended.exitCode).toBe(0);
  expect(ended.output).toContain('seam verified at line 31');
  const bytes = await machine.read('rows.txt');
  expect(bytes.length).toBe(420);
  expect(sha256(bytes)).toBe(ROWS_SHA);
  expect(await machine.sessions()).toEqual([]);
  // R065: the model was told of the interruption and of the lines that it is to repeat.
  const [prompt, ...more] = prompts(provider.requests);
  expect(more).toEqual([]);
  expect(prompt).toContain('The session for rows.txt was interrupted.');
  expect(prompt).toMatch(
    /30 lines of rows\.txt are saved[\s\S]*<tail-.{4}>\nrow 26\n[\s\S]*row 30\n/u,
  );
  expect(prompt).toContain(`<tail-${session.id.slice(0, 4)}>`);
});

test.concurrent('A4: `run --recover yes --json` finalizes once and its receipt has one verified seam', async ({
  machine,
}) => {
  const provider = await machine.provider(rows());
  await killHalfway(machine, provider);

  const ended = await machine.run([
    'run',
    '--recover',
    'yes',
    '--json',
    '--verbose',
    ...at(provider),
  ]);

  expect(ended.exitCode).toBe(0);
  expect(ended.stderr.match(/write_session_finalize_started/gu)).toHaveLength(1);
  expect(ended.result().receipts).toMatchObject([
    {
      bytes: 420,
      sha256: ROWS_SHA,
      seams: [{ line: 31, status: 'verified', via: 'recovery', lines_dropped: 5 }],
    },
  ]);
  expect(sha256(await machine.read('rows.txt'))).toBe(ROWS_SHA);
  expect(await machine.sessions()).toEqual([]);
});

longTest(
  'A4: rows that continue without the anchor are the same bytes, with a seam that is named unverified',
  async ({ machine }) => {
    const provider = await machine.provider(rows('no_anchor'));
    const session = await killHalfway(machine, provider);

    // Model, address and protocol are the session's own.
    const ended = await machine.run(['recover-session', session.id]);

    expect(ended.exitCode).toBe(0);
    expect(sha256(await machine.read('rows.txt'))).toBe(ROWS_SHA);
    expect(ended.stderr).toMatch(
      /Created rows\.txt: 60 lines, 420 bytes.*seam unverified at line 31/u,
    );
    expect(ended.stdout).toBe('');
  },
);

longTest(
  'A4, R063: a session that is too old is not offered but put aside, with one trace',
  async ({ machine }) => {
    const provider = await machine.provider(rows());
    const session = await killHalfway(machine, provider);

    const terminal = machine.terminal(['run', 'Write it.', '--verbose', ...at(provider)], {
      env: { WRITE_SESSION_MAX_AGE_MS: '1' },
    });
    // The turn itself begins anew, and its stream stops where the first one did.
    await terminal.waitForOutput('Writing rows.txt');

    expect(terminal.output()).not.toContain('Recover previous write session?');
    expect(terminal.output().match(/cleaned/gu)).toHaveLength(1);
    expect(await machine.attic()).toEqual([session.id]);
    expect((await machine.sessions()).map((one) => one.id)).not.toContain(session.id);
  },
);

test.concurrent('R066, R074: n puts the session aside, and recover-session still finds it', async ({
  machine,
}) => {
  const provider = await machine.provider(rows());
  const session = await killHalfway(machine, provider);

  const terminal = machine.terminal(['run', ...at(provider)]);
  await terminal.waitForOutput('Recover previous write session? (Y/n)');
  terminal.type('n\r');
  const declined = await terminal.finished;
  // Without a prompt there is nothing else to do.
  expect(declined.exitCode).toBe(2);
  expect(await machine.attic()).toEqual([session.id]);
  expect(await machine.sessions()).toEqual([]);

  const ended = await machine.run(['recover-session', session.id, '--json']);
  expect(ended.exitCode).toBe(0);
  expect(sha256(await machine.read('rows.txt'))).toBe(ROWS_SHA);
  expect(await machine.attic()).toEqual([]);
});

longTest(
  'R048, R068: `run --recover yes` needs no model to be named: the session knows its own',
  async ({ machine }) => {
    const provider = await machine.provider(rows());
    await killHalfway(machine, provider);

    const ended = await machine.run(['run', '--recover', 'yes']);

    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(sha256(await machine.read('rows.txt'))).toBe(ROWS_SHA);
  },
);

longTest(
  'R048, R061: a bare `run` on a terminal offers first, and asks for no model',
  async ({ machine }) => {
    const provider = await machine.provider(rows());
    await killHalfway(machine, provider);

    const terminal = machine.terminal(['run']);
    await terminal.waitForOutput('Recover previous write session? (Y/n)');
    terminal.type('\r');
    const ended = await terminal.finished;

    expect(ended.exitCode, ended.output).toBe(0);
    expect(sha256(await machine.read('rows.txt'))).toBe(ROWS_SHA);
  },
);

longTest(
  'R048, R068: the prompt after a recovery goes to the model of the session, too, whatever a file names',
  async ({ machine }) => {
    const provider = await machine.provider({
      ...rows(),
      behaviours: [
        { when: { lastUser: 'And now?' }, reply: { text: 'Now it is there.' } },
        ...rows().behaviours,
      ],
    });
    await killHalfway(machine, provider);
    const asked = provider.requests.length;
    await machine.write('orion.config.json', '{"model": "another"}');

    const ended = await machine.run(['run', 'And now?', '--recover', 'yes']);

    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(ended.stdout).toBe('Now it is there.');
    const models = provider.requests
      .slice(asked)
      .map(({ body }) => (body as { model: string }).model);
    expect(models).toEqual(['scripted', 'scripted']);
  },
);

longTest(
  'R048: a session whose turn record is gone is recovered by the model that is configured',
  async ({ machine }) => {
    const provider = await machine.provider(rows());
    const session = await killHalfway(machine, provider);
    await rm(join(session.directory, 'turn.json'));
    await writeFile(
      join(await userFolder(machine), 'config.json'),
      JSON.stringify({ model: 'scripted', baseUrl: provider.url }),
    );

    const ended = await machine.run(['run', '--recover', 'yes']);

    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(sha256(await machine.read('rows.txt'))).toBe(ROWS_SHA);
  },
);

longTest(
  'R068: with nothing to recover, a new prompt needs a model as ever',
  async ({ machine }) => {
    const ended = await machine.run(['run', 'And now?', '--recover', 'yes']);
    expect(ended.exitCode).toBe(2);
    expect(ended.stderr).toContain('There is no interrupted write session to recover.');
    expect(ended.stderr).toContain('orion: MODEL_MISSING: No model was named, ');
  },
);

/** Where this machine's user keeps the configuration. */
async function userFolder(machine: Sandbox): Promise<string> {
  const folder = join(machine.home, '.config', 'orion');
  await mkdir(folder, { recursive: true });
  return folder;
}

function rows(variant?: 'no_anchor'): Script {
  return writeDocument(
    {
      target: 'rows.txt',
      content: ROWS,
      ...(variant === undefined ? {} : { continuations: [{ variant }] }),
    },
    { shape: { chunk: 7 }, faults: [{ kind: 'stall', reply: 1, at: { lines: 30 } }] },
  );
}

/** A real kill after 30 rows were streamed and saved. */
async function killHalfway(
  machine: Sandbox,
  provider: Awaited<ReturnType<Sandbox['provider']>>,
): Promise<SessionOnDisk> {
  const { session, killed } = await machine.askUntilKilled(provider, 210);
  expect(killed.signal).toBe('SIGKILL');

  expect(await session.content()).toEqual(Buffer.from(HALF));
  expect(sha256(await session.content())).toBe(
    'd306b0c6f46fd30c1552d63132ba516f09496f26f6649f6ef1171e4f2db21cdb',
  );
  expect(await session.json('state.json')).toMatchObject({ buffer_size: 210, line_count: 30 });
  expect(await machine.exists('rows.txt')).toBe(false);
  return session;
}
