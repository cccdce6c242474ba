// A rule that nothing has ever broken may be no rule at all: a typo in a glob is enough. Here
// each kind of violation is planted in a copy of the configuration, and its check has to fail.
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openRepository, runChecks } from './index.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const bin = (name: string): string => join(root, 'node_modules/.bin', name);
let copy = '';

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'orion-violations-'));
  const configuration = globSync(
    [
      '*.{json,yaml,ts}',
      '{packages,apps,tools}/*/{package,tsconfig,turbo}.json',
      'packages/*/README.md',
      'docs/reference/rules.md',
    ],
    { cwd: root },
  );
  for (const file of configuration) {
    if (!file.includes('node_modules')) cpSync(join(root, file), join(copy, file));
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
});

afterAll(() => rmSync(copy, { recursive: true, force: true }));

function write(file: string, content: string): void {
  mkdirSync(dirname(join(copy, file)), { recursive: true });
  writeFileSync(join(copy, file), content);
}

/** Does `act` with `file` changed, and leaves the copy as it was. */
function withFile<T>(file: string, content: string, act: () => T): T {
  let before: string | undefined;
  try {
    before = readFileSync(join(copy, file), 'utf8');
  } catch {
    before = undefined;
  }
  write(file, content);
  try {
    return act();
  } finally {
    if (before === undefined) rmSync(join(copy, file));
    else write(file, before);
  }
}

function edited(file: string, edit: (manifest: Record<string, unknown>) => void): string {
  const manifest = JSON.parse(readFileSync(join(root, file), 'utf8')) as Record<string, unknown>;
  edit(manifest);
  return JSON.stringify(manifest, null, 2);
}

const declaring = (file: string, name: string, field = 'dependencies'): string =>
  edited(file, (manifest) => {
    manifest[field] = { ...(manifest[field] as object), [name]: 'workspace:*' };
  });

describe('one file alone (oxlint)', () => {
  const IMPORTS = 'eslint(no-restricted-imports)';
  const PROPERTIES = 'eslint(no-restricted-properties)';
  const GLOBALS = 'eslint(no-restricted-globals)';
  const CONSOLE = 'eslint(no-console)';

  const take = (module: string): string =>
    `import * as taken from '${module}';\nexport { taken };\n`;
  const value = (expression: string): string => `export const value: unknown = ${expression};\n`;

  const forbidden: [folder: string, code: string, rule: string][] = [
    // Files and processes, in every spelling.
    ['packages/core/src', take('node:fs'), IMPORTS],
    ['packages/contracts/src', take('node:fs/promises'), IMPORTS],
    ['packages/protocols/src', "export * from 'node:fs';\n", IMPORTS],
    ['packages/tool-runner/src', value("await import('node:fs/promises')"), IMPORTS],
    ['packages/llm-adapters/src/scripted', take('node:fs'), IMPORTS],
    ['packages/trace-store/src', take('node:fs'), IMPORTS],
    ['packages/agent/src', take('node:fs'), IMPORTS],
    ['packages/agent/src', take('fs'), IMPORTS],
    ['packages/tool-runner/src/mcp', take('node:fs'), IMPORTS],
    ['apps/server/src', take('node:fs'), IMPORTS],
    ['packages/core/src', take('node:child_process'), IMPORTS],
    ['packages/agent/src', take('node:child_process'), IMPORTS],
    ['packages/agent/src/config', take('node:child_process'), IMPORTS],
    ['packages/tool-runner/src', take('node:child_process'), IMPORTS],
    ['apps/cli/src', take('node:child_process'), IMPORTS],
    ['apps/cli/src/chat', take('node:child_process'), IMPORTS],
    // Databases and provider SDKs.
    ['packages/core/src', take('pg'), IMPORTS],
    ['packages/agent/src', take('node:sqlite'), IMPORTS],
    ['packages/workspace/src', take('node:sqlite'), IMPORTS],
    ['apps/cli/src', take('pg'), IMPORTS],
    ['tools/e2e', take('pg'), IMPORTS],
    ['packages/agent/src', take('openai'), IMPORTS],
    [
      'packages/agent/src',
      "import type { OpenAI } from 'openai';\nexport type { OpenAI };\n",
      IMPORTS,
    ],
    ['packages/protocols/src', take('openai/resources'), IMPORTS],
    ['packages/trace-store/src', take('@anthropic-ai/sdk'), IMPORTS],
    ['apps/cli/src', take('openai'), IMPORTS],
    ['tools/bench', take('openai'), IMPORTS],
    // Side doors.
    [
      'packages/core/src',
      "import { createRequire } from 'node:module';\nexport { createRequire };\n",
      IMPORTS,
    ],
    ['packages/agent/src', value("process.getBuiltinModule('node:fs')"), PROPERTIES],
    ['packages/core/src', value('globalThis'), GLOBALS],
    ['packages/agent/src', value('globalThis.process'), GLOBALS],
    // The environment.
    ['packages/core/src', value("process.env['HOME']"), PROPERTIES],
    ['packages/agent/src', value('process.env'), PROPERTIES],
    ['packages/llm-adapters/src', 'const { env } = process;\nexport { env };\n', PROPERTIES],
    ['packages/workspace/src', take('node:process'), IMPORTS],
    ['apps/cli/src', value("process.env['HOME']"), PROPERTIES],
    ['apps/cli/src/demo', value('process.env'), PROPERTIES],
    // The clock, timers and chance.
    ...['core', 'protocols'].flatMap((name): [string, string, string][] => [
      [`packages/${name}/src`, value('Date.now()'), PROPERTIES],
      [`packages/${name}/src`, 'const { now } = Date;\nexport { now };\n', PROPERTIES],
      [`packages/${name}/src`, value('Math.random()'), PROPERTIES],
      [`packages/${name}/src`, value('AbortSignal.timeout(1)'), PROPERTIES],
      [`packages/${name}/src`, value('process.hrtime.bigint()'), PROPERTIES],
      [`packages/${name}/src`, value('performance.now()'), GLOBALS],
      [`packages/${name}/src`, value('setTimeout(() => {}, 1)'), GLOBALS],
      [`packages/${name}/src`, value('setInterval(() => {}, 1)'), GLOBALS],
      [`packages/${name}/src`, value('setImmediate(() => {})'), GLOBALS],
      [`packages/${name}/src`, value('crypto.randomUUID()'), GLOBALS],
      [`packages/${name}/src`, take('node:timers/promises'), IMPORTS],
      [`packages/${name}/src`, take('node:perf_hooks'), IMPORTS],
      [
        `packages/${name}/src`,
        "import { randomUUID } from 'node:crypto';\nexport { randomUUID };\n",
        IMPORTS,
      ],
    ]),
    // Test tools in code that ships; an adapter in an app.
    ['packages/core/src', take('@orion/testkit'), IMPORTS],
    ['packages/agent/src', take('vitest'), IMPORTS],
    ['apps/cli/src', take('fast-check'), IMPORTS],
    ['apps/cli/src', take('@orion/llm-adapters'), IMPORTS],
    // The server in anything else.
    ['apps/cli/src', take('@orion/server'), IMPORTS],
    ['apps/cli/src/commands', value("await import('@orion/server')"), IMPORTS],
    ['apps/cli/src/test', take('@orion/server'), IMPORTS],
    ['apps/server/src', take('@orion/server'), IMPORTS],
    ['packages/agent/src', take('@orion/server'), IMPORTS],
    ['tools/e2e', take('@orion/server'), IMPORTS],
    // Layers hold for tests too.
    ['packages/agent/src/test', take('openai'), IMPORTS],
    ['packages/core/src/testing', take('pg'), IMPORTS],
    ['apps/cli/src/test', take('@orion/llm-adapters'), IMPORTS],
    // Output.
    ['packages/agent/src', "console.error('x');\nexport {};\n", CONSOLE],
    ['apps/cli/src', "console.log('x');\nexport {};\n", CONSOLE],
    // What is plainly wrong anywhere.
    ['packages/agent/src', 'export const value: any = 1;\n', 'typescript(no-explicit-any)'],
    [
      'packages/agent/src',
      'export function f(): void {\n  Promise.reject(new Error());\n}\n',
      'typescript(no-floating-promises)',
    ],
    [
      'packages/core/src/test',
      'export function f(): void {\n  Promise.reject(new Error());\n}\n',
      'typescript(no-floating-promises)',
    ],
    [
      'packages/agent/src',
      'export const f = (list: number[]): void => list.forEach(async (n) => void (await n));\n',
      'typescript(no-misused-promises)',
    ],
    [
      'packages/core/src',
      "export function f(kind: 'a' | 'b'): void {\n  switch (kind) {\n    case 'a':\n      break;\n  }\n}\n",
      'typescript(switch-exhaustiveness-check)',
    ],
    [
      'packages/core/src',
      "export function f(): never {\n  throw 'x';\n}\n",
      'typescript(only-throw-error)',
    ],
    ['packages/core/src', 'export const f = (a: unknown): boolean => a == 1;\n', 'eslint(eqeqeq)'],
    [
      'packages/core/src',
      "import * as path from 'path';\nexport { path };\n",
      'unicorn(prefer-node-protocol)',
    ],
  ];

  const CALL = 'export const f = (orion: { ';
  for (const name of ['runTurn', 'runOwnedTurn', 'recoverSession'])
    for (const [folder, use] of [
      ['apps/server/src/routes', `orion.${name}()`],
      ['apps/server/src', `orion['${name}']()`],
      ['apps/server/src/turns', `{ const { ${name} } = orion; return ${name}(); }`],
    ] as const)
      // A second way to a model, beside the queue (R239).
      forbidden.push([folder, `${CALL}${name}(): unknown }): unknown => ${use};\n`, PROPERTIES]);

  const allowed: [folder: string, code: string][] = [
    ['apps/cli/src', `${CALL}runTurn(): unknown }): unknown => orion.runTurn();\n`],
    ['apps/server/src/test', `${CALL}runTurn(): unknown }): unknown => orion.runTurn();\n`],
    ['packages/agent/src', `${CALL}runTurn(): unknown }): unknown => orion.runTurn();\n`],
    ['packages/workspace/src', take('node:fs/promises')],
    ['packages/workspace/src', take('node:child_process')],
    ['packages/agent/src/config', take('node:fs')],
    ['packages/agent/src/config', value('process.env')],
    ['packages/testkit/src', take('node:fs') + "export * from 'vitest';\n"],
    ['packages/testkit/src', take('node:child_process')],
    ['packages/tool-runner/src/mcp', take('node:child_process')],
    ['packages/trace-store/src', take('node:sqlite') + "export * from 'pg';\n"],
    ['packages/llm-adapters/src', take('openai')],
    ['packages/agent/src', value('Date.now()') + 'setTimeout(() => {}, 1);\n'],
    ['packages/core/src', "import { createHash } from 'node:crypto';\nexport { createHash };\n"],
    [
      'packages/core/src/test',
      take('node:fs') + "export * from 'vitest';\nexport * from '@orion/testkit';\n",
    ],
    [
      'packages/core/src/test',
      value('[Date.now(), process.env, Math.random(), setTimeout(() => {})]'),
    ],
    ['packages/core/src/testing', take('node:fs')],
    ['packages/llm-adapters/src/test', take('openai')],
    ['apps/cli/src', take('node:fs') + "export * from '@orion/llm-adapters/scripted';\n"],
    ['apps/cli/src/demo', take('node:child_process')],
    [
      'tools/e2e',
      take('node:child_process') + "export * from 'vitest';\nconsole.log(process.env);\n",
    ],
  ];

  // One run over all of them: starting the linter is what takes time. A folder `test` stands for
  // a test file in the folder above it.
  const path = (folder: string, name: string): string =>
    folder.endsWith('/test') ? `${folder.slice(0, -5)}/${name}.test.ts` : `${folder}/${name}.ts`;
  const found = new Map<string, Set<string>>();

  beforeAll(() => {
    const planted: string[] = [];
    const plant = (file: string, code: string): void => {
      write(file, code);
      planted.push(file);
    };
    forbidden.forEach(([folder, code], index) => plant(path(folder, `forbidden-${index}`), code));
    allowed.forEach(([folder, code], index) => plant(path(folder, `allowed-${index}`), code));
    plant('apps/cli/src/main.ts', value("process.env['HOME']"));
    plant('apps/cli/src/commands/serve.ts', take('@orion/server'));
    plant(
      'apps/server/src/turns/turn-runner.ts',
      `${CALL}runOwnedTurn(): unknown }): unknown => orion.runOwnedTurn();\n`,
    );
    plant(
      'packages/core/src/cycle-a.ts',
      "import { b } from './cycle-b.ts';\nexport const a: unknown = b;\n",
    );
    plant(
      'packages/core/src/cycle-b.ts',
      "import { a } from './cycle-a.ts';\nexport const b: unknown = a;\n",
    );
    plant(
      'packages/core/src/cycle-c.ts',
      "import type { D } from './cycle-d.ts';\nexport type C = D[];\n",
    );
    plant(
      'packages/core/src/cycle-d.ts',
      "import type { C } from './cycle-c.ts';\nexport type D = C | 1;\n",
    );
    // Folders are named: left to itself the linter would follow the link to node_modules.
    const { stdout, stderr } = spawnSync(
      bin('oxlint'),
      ['--type-aware', '--deny-warnings', '-f', 'json', 'packages', 'apps', 'tools'],
      { cwd: copy, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
    );
    if (!stdout.includes('"diagnostics"')) throw new Error(stdout + stderr);
    const { diagnostics } = JSON.parse(stdout) as {
      diagnostics: { filename: string; code: string }[];
    };
    for (const { filename, code } of diagnostics) {
      const file = filename.replace(`${copy}/`, '');
      found.set(file, (found.get(file) ?? new Set()).add(code));
    }
    for (const file of planted) rmSync(join(copy, file));
  }, 60_000);

  test.each(forbidden.map((row, index) => [...row, index] as const))(
    '%s: %j breaks %s',
    (folder, _code, rule, index) => {
      expect([...(found.get(path(folder, `forbidden-${index}`)) ?? [])]).toContain(rule);
    },
  );

  test.each(allowed.map((row, index) => [...row, index] as const))(
    '%s: %j is allowed',
    (folder, _code, index) => {
      expect([...(found.get(path(folder, `allowed-${index}`)) ?? [])]).toEqual([]);
    },
  );

  test('the entry of an app reads the environment', () => {
    expect(found.get('apps/cli/src/main.ts')).toBeUndefined();
  });

  test('the runner of the queue runs turns (R239)', () => {
    expect(found.get('apps/server/src/turns/turn-runner.ts')).toBeUndefined();
  });

  test('the command that starts the server imports it', () => {
    expect(found.get('apps/cli/src/commands/serve.ts')).toBeUndefined();
  });

  test.each(['a', 'b', 'c', 'd'])('a cycle between files, of types too (%s)', (name) => {
    expect(found.get(`packages/core/src/cycle-${name}.ts`)).toEqual(new Set(['import(no-cycle)']));
  });
});

describe('layers (turbo boundaries)', () => {
  function boundaries(): { status: number | null; output: string } {
    const { status, stdout, stderr } = spawnSync(bin('turbo'), ['boundaries'], {
      cwd: copy,
      encoding: 'utf8',
      env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' },
    });
    return { status, output: stdout + stderr };
  }

  test('the real manifests keep to the layers', () => {
    expect(boundaries()).toMatchObject({ status: 0 });
  });

  test.each([
    ['core', '@orion/workspace', 'dependencies'],
    ['workspace', '@orion/core', 'devDependencies'],
    ['protocols', '@orion/tool-runner', 'dependencies'],
    ['tool-runner', '@orion/trace-store', 'dependencies'],
    ['llm-adapters', '@orion/agent', 'dependencies'],
    ['trace-store', '@orion/llm-adapters', 'dependencies'],
    ['contracts', '@orion/core', 'dependencies'],
    ['contracts', '@orion/testkit', 'devDependencies'],
    ['testkit', '@orion/core', 'dependencies'],
    ['agent', '@orion/cli', 'dependencies'],
    ['agent', '@orion/server', 'devDependencies'],
    ['core', '@orion/server', 'dependencies'],
    ['agent', '@orion/web', 'devDependencies'],
    ['agent', '@orion/e2e', 'devDependencies'],
  ])('packages/%s may not declare %s in %s', (name, dependency, field) => {
    const file = `packages/${name}/package.json`;
    const { status, output } = withFile(file, declaring(file, dependency, field), boundaries);
    expect(output).toMatch(/denylist|[Cc]ircular/);
    expect(status).toBe(1);
  });

  test.each([
    ['packages/core/src/a.ts', "import '@orion/workspace';\n"],
    ['packages/core/src/a.test.ts', "import '@orion/workspace';\n"],
    ['packages/core/src/a.ts', "import '../../workspace/src/index.ts';\n"],
    ['packages/core/src/a.test.ts', "import '../../workspace/src/index.ts';\n"],
    ['packages/core/src/a.ts', "import 'commander';\n"],
    ['packages/protocols/src/a.ts', "import '@orion/llm-adapters/scripted';\n"],
    ['apps/cli/src/a.ts', "import '@orion/workspace';\n"],
  ])('%s may not say %j', (file, code) => {
    const { status, output } = withFile(file, code, boundaries);
    expect(output).toMatch(/leaves the package|not a dependency/);
    expect(status).toBe(1);
  });
});

describe('the rest (tools/checks)', () => {
  const found = (file: string): string[] => {
    const files = globSync('**/*.*', {
      cwd: copy,
      exclude: (path) => path.includes('node_modules'),
    });
    const repository = openRepository(copy, [...new Set([...files, file])]);
    return runChecks(repository).map((finding) => `${finding.check} ${finding.file}`);
  };

  test.each([
    [
      'an app declares a middle package',
      'manifests',
      'apps/cli/package.json',
      () => declaring('apps/cli/package.json', '@orion/core'),
    ],
    [
      'an app tests with a middle package',
      'manifests',
      'apps/cli/package.json',
      () => declaring('apps/cli/package.json', '@orion/core', 'devDependencies'),
    ],
    [
      'an app that is not the command declares the server',
      'manifests',
      'apps/other/package.json',
      () => '{ "name": "@orion/other", "dependencies": { "@orion/server": "workspace:*" } }',
    ],
    [
      'the page declares the agent',
      'manifests',
      'apps/web/package.json',
      () => declaring('apps/web/package.json', '@orion/agent'),
    ],
    [
      'the command is built with the page',
      'manifests',
      'apps/cli/package.json',
      () => declaring('apps/cli/package.json', '@orion/web', 'devDependencies'),
    ],
    [
      'the server declares another app',
      'manifests',
      'apps/server/package.json',
      () => declaring('apps/server/package.json', '@orion/cli'),
    ],
    [
      'the server has the layer of any app',
      'manifests',
      'apps/server/turbo.json',
      () => '{ "extends": ["//"], "tags": ["app"] }',
    ],
    [
      'testkit ships',
      'manifests',
      'packages/core/package.json',
      () => declaring('packages/core/package.json', '@orion/testkit'),
    ],
    [
      'a package without its layer',
      'manifests',
      'packages/core/turbo.json',
      () => '{ "extends": ["//"] }',
    ],
    [
      'a package with another layer',
      'manifests',
      'packages/core/turbo.json',
      () => '{ "extends": ["//"], "tags": ["composition"] }',
    ],
    [
      'a source condition is published',
      'manifests',
      'packages/core/package.json',
      () =>
        edited('packages/core/package.json', (m) => {
          m['publishConfig'] = { exports: m['exports'] };
        }),
    ],
    [
      'an entry for the tools of the repository is published',
      'manifests',
      'packages/core/package.json',
      () =>
        edited('packages/core/package.json', (m) => {
          const entries = m['exports'] as Record<string, object>;
          entries['./own'] = { '@orion/source': './src/index.ts' };
          const { exports } = m['publishConfig'] as { exports: Record<string, object> };
          exports['./own'] = { default: './dist/index.js' };
        }),
    ],
    [
      'everything is exported',
      'manifests',
      'packages/core/package.json',
      () =>
        edited('packages/core/package.json', (m) => {
          m['exports'] = { './*': './src/*' };
        }),
    ],
    [
      'another licence',
      'manifests',
      'packages/core/package.json',
      () =>
        edited('packages/core/package.json', (m) => {
          m['license'] = 'ISC';
        }),
    ],
    [
      'a build that runs anything',
      'manifests',
      'packages/core/package.json',
      () =>
        edited('packages/core/package.json', (m) => {
          m['scripts'] = { build: 'tsc -b && node ../../tools/anything.js' };
        }),
    ],
    [
      'a setting that no guide has',
      'documented',
      'packages/agent/src/config/settings.ts',
      () => "const SETTINGS = {\n  newOne: ['WRITE_SESSION_NEW_ONE', integer(0), 3],\n};\n",
    ],
    [
      'a code without its row',
      'documented',
      'packages/contracts/src/errors.ts',
      () => "export const ERROR_CODES = {\n  NEW_CODE: 'Do it again.',\n};\n",
    ],
    [
      'a next step that the page words otherwise',
      'documented',
      'packages/contracts/src/errors.ts',
      () => "export const ERROR_CODES = {\n  USAGE: 'Read the page.',\n} as const;\n",
    ],
    [
      "a next step in the command's words that the page does not have",
      'documented',
      'apps/cli/src/rendering/command-hints.ts',
      () => "const COMMAND_HINTS = {\n  USAGE:\n    'Correct what was asked for, and more.',\n};\n",
    ],
    [
      'an option without its row',
      'documented',
      'apps/cli/src/command-line/program.ts',
      () => "run.option('--new-option <n>', 'does something new');\n",
    ],
    [
      'an answer that the guide does not have',
      'documented',
      'packages/contracts/src/session-question.ts',
      () => "export const ANSWER_WORDS = ['perhaps'] as const;\n",
    ],
    [
      'a key of a receipt without its row',
      'documented',
      'packages/contracts/src/write-session.ts',
      () => 'export type WriteReceipt = {\n  readonly new_key?: true;\n};\n',
    ],
    [
      'a warning without its row',
      'documented',
      'packages/workspace/src/commit/a.ts',
      () => "warnings.push('something_new');\n",
    ],
    [
      'new Date() in core',
      'clock',
      'packages/core/src/a.ts',
      () => 'export const now: Date = new Date();\n',
    ],
    [
      'Date() in protocols',
      'clock',
      'packages/protocols/src/a.ts',
      () => 'export const now: string = Date();\n',
    ],
    [
      'a long test that runs all the same',
      'long-tests',
      'packages/core/src/a.test.ts',
      () => "test.skipIf(isOld)('a', { tags: ['long'] }, () => {});\n",
    ],
    [
      'a test of a long file that runs all the same',
      'long-tests',
      'packages/core/src/a.test.ts',
      // In one piece it would be the tag of this file.
      () => `// @module-tag ${'long'}\nit.runIf(isNew).for([1])('a', () => {});\n`,
    ],
    ['a folder of this machine', 'self-contained', 'docs/a.md', () => `See ${copy}/packages.\n`],
    [
      'a path out of the repository',
      'self-contained',
      'docs/a.md',
      () => 'See `../../elsewhere/notes`.\n',
    ],
    ['a registry', 'self-contained', '.npmrc', () => 'registry=x\n'],
    [
      'a host in the lockfile',
      'self-contained',
      'pnpm-lock.yaml',
      () => 'resolution: {tarball: https://x.invalid/a.tgz}\n',
    ],
    ['a path that is not there', 'docs', 'docs/a.md', () => 'See `packages/nowhere`.\n'],
    ['a link that leads nowhere', 'docs', 'docs/a.md', () => 'See [this](./nowhere.md).\n'],
    ['a heading that is not there', 'docs', 'docs/a.md', () => '# One\n\nSee [this](#two).\n'],
    ['a script that is not there', 'docs', 'docs/a.md', () => 'Type `npm run nothing`.\n'],
    ['a requirement number', 'docs', 'docs/a.md', () => `As R${'123'} says.\n`],
    ['a rule that is not there', 'rules', 'packages/core/src/a.ts', () => `// R${'999'}\n`],
    ['a rule of a section that is not there', 'rules', 'docs/a.md', () => `§1.4a rule ${'12'}\n`],
    [
      "another module's invariant",
      'rules',
      'packages/core/src/write-session/a.ts',
      () => `// B${'44'}\n`,
    ],
  ])('%s', (_name, check, file, content) => {
    const findings = withFile(file, content(), () => found(file));
    expect(findings.map((line) => line.replace(/:\d+$/, ''))).toContain(`${check} ${file}`);
  });

  test('a number of the rules, or of the header of that module, resolves', () => {
    const invariant = `B${'77'}`;
    const code = `/**\n * ${invariant}  Holds always.\n */\n// ${invariant}, R047, §1.4a rule 4\n`;
    const findings = withFile('packages/core/src/a.ts', code, () =>
      found('packages/core/src/a.ts'),
    );
    expect(findings.filter((line) => line.startsWith('rules'))).toEqual([]);
  });

  test('a package without README', () => {
    const before = readFileSync(join(copy, 'packages/core/README.md'), 'utf8');
    rmSync(join(copy, 'packages/core/README.md'));
    expect(found('packages/core/package.json')).toContain('manifests packages/core/package.json');
    write('packages/core/README.md', before);
  });

  test('new Date(milliseconds) is no look at the clock', () => {
    const code = 'export const date = (ms: number): Date => new Date(ms);\n';
    const findings = withFile('packages/core/src/a.ts', code, () =>
      found('packages/core/src/a.ts'),
    );
    expect(findings.filter((line) => line.startsWith('clock'))).toEqual([]);
  });
});
