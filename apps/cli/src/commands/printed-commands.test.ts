import type { Behaviour } from '@orion/llm-adapters/scripted';
import { describe, expect, it, onTestFinished } from 'vitest';

import { openPlace, printedCommands, type Mode, type Place } from '../testing/printed-commands.ts';

/**
 * Hazard: a command that is printed for a session that waits, and cannot be typed, does not find the session, or does
 * something else than what it says. Each one is read by a shell and run on a pause of its own.
 */

const MODES: readonly Mode[] = [
  { name: 'as usual' },
  { name: 'strict', strict: true },
  {
    name: '-C, ORION_STATE_DIR, and a path with a blank',
    elsewhere: true,
    environment: { ORION_STATE_DIR: '../my state' },
    folder: "it's a (place)",
  },
  {
    name: '.orion cannot be made, -C, and a path with a blank',
    elsewhere: true,
    degraded: true,
    folder: 'a place',
  },
];

const WHOLE = 'one\ntwo\nthree\nfour\n';
const SAVED = 'one\ntwo\n';

type Outcome = {
  /** What the file holds afterwards; null: there is none. */
  readonly file: string | null;
  readonly said?: RegExp;
  readonly exitCode?: number;
  /** What a file beside it holds, whose name says that it is the session's. */
  readonly beside?: string;
  /** It replaces bytes, and nothing is replaced that cannot be kept. */
  readonly replaces?: true;
};

type Pause = {
  readonly code: string;
  readonly name: string;
  readonly target?: string;
  /** What the model writes first, if it does not do what it is asked from the beginning. */
  readonly first?: string;
  readonly isCut?: boolean;
  readonly next?: readonly Behaviour[];
  readonly operation?: string;
  /** What the file holds before. */
  readonly before?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly options?: readonly string[];
  /** What a person answers, at a terminal. */
  readonly typed?: string;
  /** The first pause is another one: somebody writes this to the file, and `--finalize` pauses again. */
  readonly meanwhile?: string;
  /** What each of the printed commands does, in their order. */
  readonly commands: Readonly<Record<string, Outcome>>;
  /** It is about a bare DONE, which in strict mode means nothing. */
  readonly notStrict?: boolean;
};

const BY_HAND = /warning: finalized_by_hand \(the model had not ended it/u;
const NOT_KEPT =
  /STORE_FOREIGN: .*[/]\.orion is no folder, and not used for what Orion keeps: move it away/u;
const DISCARDED: Outcome = { file: null, said: /^Put aside in /mu };
/** The model goes on as it should, or a person has what is saved written. */
const AT_ANY_TIME: Pause['commands'] = {
  '': { file: WHOLE },
  '--finalize': { file: SAVED, said: BY_HAND },
  '--discard': DISCARDED,
};

const PAUSES: readonly Pause[] = [
  { code: 'NO_DONE', name: 'no end mark', first: SAVED, commands: AT_ANY_TIME },
  {
    code: 'EMPTY_CONTENT',
    name: 'nothing at all',
    first: 'DONE\n',
    notStrict: true,
    commands: { '': { file: WHOLE }, '--discard': DISCARDED },
  },
  {
    code: 'CONTENT_TOO_LARGE',
    name: 'larger than the limit',
    first: WHOLE,
    environment: { WRITE_SESSION_MAX_BYTES: '10' },
    commands: {
      '--max-bytes 20': { file: WHOLE },
      '--finalize': { file: `${SAVED}th`, said: BY_HAND },
      '--discard': DISCARDED,
    },
  },
  {
    code: 'NO_DONE',
    name: 'a near miss',
    first: `${SAVED}**DONE**`,
    notStrict: true,
    next: [{ when: { lastUser: 'Reply KEEP' }, reply: { text: 'DONE' } }],
    commands: {
      '': { file: SAVED },
      '--finalize --answer keep': { file: `${SAVED}**DONE**` },
      '--finalize --answer done': { file: SAVED },
      '--discard': DISCARDED,
    },
  },
  {
    code: 'NO_DONE',
    name: 'text behind DONE',
    first: `${SAVED}DONE\nThis is the last sentence of it.\n`,
    notStrict: true,
    next: [{ when: { lastUser: 'END 3' }, reply: { text: 'END 3' } }],
    commands: {
      '': { file: SAVED },
      '--finalize --end-at 3': { file: SAVED },
      '--finalize --answer done': { file: `${SAVED}DONE\nThis is the last sentence of it.\n` },
      '--discard': DISCARDED,
    },
  },
  {
    code: 'NO_DONE',
    name: 'words before the file that are not answered for',
    notStrict: true,
    first: `Here is the file:\n\n${SAVED}DONE\n`,
    next: [
      { when: { lastUser: 'Reply DROP' }, times: 1, reply: { text: 'Whatever you like.' } },
      { when: { lastUser: 'Reply DROP' }, reply: { text: 'DROP' } },
    ],
    commands: {
      '': { file: SAVED },
      '--finalize --answer drop': { file: SAVED },
      '--finalize --answer keep': { file: `Here is the file:\n\n${SAVED}` },
      '--discard': DISCARDED,
    },
  },
  {
    code: 'NO_DONE',
    name: 'a fence that is not answered for',
    notStrict: true,
    target: 'a.md',
    first: `\`\`\`\n${SAVED}\`\`\`\nDONE\n`,
    next: [
      { when: { lastUser: 'Reply STRIP' }, times: 1, reply: { text: 'Whatever you like.' } },
      { when: { lastUser: 'Reply STRIP' }, reply: { text: 'STRIP' } },
    ],
    commands: {
      '': { file: SAVED },
      '--finalize --answer strip': { file: SAVED },
      '--finalize --answer keep': { file: `\`\`\`\n${SAVED}\`\`\`\n` },
      '--discard': DISCARDED,
    },
  },
  {
    code: 'NO_DONE',
    name: 'an omission that is not answered for',
    notStrict: true,
    operation: 'overwrite',
    before: WHOLE,
    first: 'one\n// ... rest unchanged\nDONE\n',
    next: [
      { when: { lastUser: 'Reply AGAIN' }, times: 1, reply: { text: 'Whatever you like.' } },
      { when: { lastUser: 'Reply AGAIN' }, reply: { text: 'KEEP' } },
    ],
    commands: {
      '': { file: 'one\n// ... rest unchanged\n', replaces: true },
      '--finalize --answer keep': { file: 'one\n// ... rest unchanged\n', replaces: true },
      '--discard': { ...DISCARDED, file: WHOLE },
    },
  },
  {
    code: 'SEAM_UNVERIFIED',
    name: 'replies that do not join',
    first: SAVED,
    isCut: true,
    environment: { WRITE_SESSION_SEAM: 'strict' },
    next: [
      { when: { toolChoice: 'none' }, times: 3, reply: { text: 'five\nsix\nseven\neight\n' } },
    ],
    commands: AT_ANY_TIME,
  },
  {
    code: 'PROVIDER_AUTH',
    name: 'a provider that refuses',
    first: SAVED,
    isCut: true,
    next: [
      {
        when: { toolChoice: 'none' },
        times: 1,
        reply: { text: 'x' },
        faults: [{ kind: 'status', status: 401 }],
      },
    ],
    commands: AT_ANY_TIME,
  },
  {
    code: 'BUDGET_EXHAUSTED',
    name: 'a budget that is spent',
    first: SAVED,
    isCut: true,
    options: ['--max-turns', '2'],
    commands: AT_ANY_TIME,
  },
  {
    code: 'APPROVAL_REFUSED',
    name: 'a change that is not approved',
    options: ['--approve', 'ask'],
    typed: 'n\n',
    commands: {
      '': { file: WHOLE },
      '--finalize': { file: WHOLE },
      '--discard': DISCARDED,
    },
  },
  {
    code: 'NO_DONE',
    name: 'a protected path',
    target: '.env.local',
    first: SAVED,
    options: ['--allow-path', '.env.local'],
    commands: {
      '--allow-path .env.local': { file: WHOLE },
      '--finalize --allow-path .env.local': { file: SAVED, said: BY_HAND },
      '--discard': DISCARDED,
    },
  },
  {
    code: 'FILE_EXISTS',
    name: 'another file has the name',
    first: SAVED,
    meanwhile: 'somebody\n',
    commands: {
      '': { file: 'somebody\n', exitCode: 3, said: /Paused \(FILE_EXISTS\)/u },
      '--finalize --on-conflict=overwrite': { file: SAVED, said: BY_HAND, replaces: true },
      '--finalize --on-conflict=keep-both': { file: 'somebody\n', beside: SAVED, said: BY_HAND },
      '--discard': { ...DISCARDED, file: 'somebody\n' },
    },
  },
  {
    code: 'TARGET_CHANGED',
    name: 'the file was changed meanwhile',
    operation: 'overwrite',
    before: 'before\n',
    first: SAVED,
    meanwhile: 'somebody\n',
    commands: {
      '': { file: 'somebody\n', exitCode: 3, said: /Paused \(TARGET_CHANGED\)/u },
      '--finalize --on-conflict=overwrite': { file: SAVED, said: BY_HAND, replaces: true },
      '--finalize --on-conflict=keep-both': { file: 'somebody\n', beside: SAVED, said: BY_HAND },
      '--discard': { ...DISCARDED, file: 'somebody\n' },
    },
  },
];

const CASES = MODES.flatMap((mode, column) =>
  PAUSES.filter((pause) => !(mode.strict === true && pause.notStrict === true)).map(
    (pause) => ({ pause, mode, isShare: column === 0 }) as const,
  ),
);

describe('R279: every printed command can be typed as it stands and does what it says', () => {
  for (const { pause, mode, isShare } of CASES) {
    const title = `${pause.code} (${pause.name}), ${mode.name}`;
    // Every pause as usual; the other modes are played by `npm run test:long`.
    const limits = { timeout: 60_000, tags: isShare ? [] : ['long'] };
    it(title, limits, async () => {
      // What lies in the temporary folder is in nobody's way.
      const expected = Object.entries(pause.commands).filter(
        ([options]) => options !== '--discard' || mode.degraded !== true,
      );
      for (const [index, [options, usual]] of expected.entries()) {
        const { place, commands } = await paused(pause, mode);
        const outcome = usual.replaces === true && mode.degraded === true ? refused(pause) : usual;
        expect(commands.map(optionsOf)).toEqual(expected.map(([each]) => each));
        const command = commands[index] ?? [];
        const ended = await place.orion(command);
        const told = `${command.join(' ')}\n${ended.err}`;
        expect(ended.exitCode, told).toBe(outcome.exitCode ?? 0);
        expect(await place.read(targetOf(pause)), `${options}\n${told}`).toBe(outcome.file);
        if (outcome.said !== undefined) expect(ended.err).toMatch(outcome.said);
        if (!told.includes('finalized_by_hand')) expect(outcome.said).not.toBe(BY_HAND);
        if (outcome.said !== BY_HAND) expect(ended.err).not.toContain('finalized_by_hand');
        if (outcome.beside !== undefined) expect(await place.beside()).toEqual([outcome.beside]);
        await place.close();
      }
    });
  }
});

/** The file is as it was, and the text is kept once more. */
function refused({ before, meanwhile }: Pause): Outcome {
  return { file: meanwhile ?? before ?? null, exitCode: 3, said: NOT_KEPT };
}

/** A place of its own in which this session has paused, and the commands that were printed. */
async function paused(
  pause: Pause,
  mode: Mode,
): Promise<{
  readonly place: Place;
  readonly commands: ReturnType<typeof printedCommands>;
}> {
  const environment = { ...mode.environment, ...pause.environment };
  const place = await openPlace({ ...mode, environment }, behavioursOf(pause));
  onTestFinished(place.close);
  if (pause.before !== undefined) await place.write(targetOf(pause), pause.before);
  const line = ['run', 'Write it.', ...place.options, ...(pause.options ?? [])];
  let { exitCode, err } = await place.orion(line, pause.typed);
  if (pause.meanwhile !== undefined) {
    await place.write(targetOf(pause), pause.meanwhile);
    const finalize = printedCommands(err).find((command) => command.includes('--finalize'));
    ({ exitCode, err } = await place.orion(finalize ?? []));
  }
  expect(exitCode, err).toBe(3);
  expect(err).toContain(`Paused (${pause.code}): ${targetOf(pause)} is not written yet. `);
  return { place, commands: printedCommands(err) };
}

function behavioursOf(pause: Pause): readonly Behaviour[] {
  const { first, isCut = false, next = [], operation = 'create' } = pause;
  const target = targetOf(pause);
  const document = {
    target,
    content: { kind: 'text', text: WHOLE },
    endMarker: 'session',
  } as const;
  const faults = isCut ? ([{ kind: 'length' }] as const) : [];
  return [
    ...(first === undefined
      ? []
      : [{ when: { toolChoice: 'none' }, times: 1, reply: { text: first }, faults } as const]),
    ...next,
    { reply: { document } },
    {
      when: { toolResults: 0, toolChoice: 'auto' },
      reply: {
        toolCalls: [
          {
            name: 'WritePlanTool_begin',
            arguments: { intent: 'test', target_file: target, operation },
          },
        ],
      },
    },
    { reply: { text: 'All written.' } },
  ];
}

function targetOf({ target = 'a.ts' }: Pause): string {
  return target;
}

/** What a command has behind the session and the place, which differ from one to the next. */
function optionsOf(words: readonly string[]): string {
  const from = words[1] === '--from' ? 3 : 2;
  const place = words.indexOf('-C');
  return words.slice(from, place === -1 ? undefined : place).join(' ');
}
