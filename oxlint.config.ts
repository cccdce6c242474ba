// The import rules of docs/architecture, as far as one file alone can break them, and a short
// list of lint rules. Layers between packages are checked by `turbo boundaries` (turbo.json),
// what neither tool can say by tools/checks. tools/checks/src/violations.test.ts plants one
// violation of each kind and sees it fail.
//
// This is code and not JSON because an override replaces a rule's options instead of adding to
// them: each area below gets every ban except those it is allowed to lift.
import { defineConfig } from 'oxlint';

interface Ban {
  readonly modules: readonly string[];
  readonly importNames?: readonly string[];
  readonly reason: string;
}

const bans = {
  files: {
    modules: ['fs', 'fs/**', 'node:fs', 'node:fs/**'],
    reason:
      'Files are read, listed and written through the Workspace port: one package holds the path policy and the durable writes.',
  },
  processes: {
    modules: ['child_process', 'node:child_process', 'cluster', 'node:cluster'],
    reason:
      'Few places may start a process, so that all of them can be reviewed for what they run.',
  },
  sqlite: {
    modules: ['node:sqlite'],
    reason: 'Only trace-store talks to a database.',
  },
  postgres: {
    modules: ['pg', 'pg/**', 'better-sqlite3'],
    reason: 'Only trace-store talks to a database.',
  },
  providers: {
    modules: ['openai', 'openai/**', '@anthropic-ai/sdk', '@anthropic-ai/sdk/**'],
    reason: "Only llm-adapters knows a provider's types and its quirks.",
  },
  timers: {
    modules: ['timers', 'timers/**', 'node:timers', 'node:timers/**'],
    reason: 'Time comes in through the Clock, so that a test decides what time it is.',
  },
  entropy: {
    modules: ['crypto', 'node:crypto'],
    importNames: [
      'randomUUID',
      'randomUUIDv7',
      'randomBytes',
      'randomInt',
      'getRandomValues',
      'webcrypto',
      'default',
    ],
    reason: 'Ids and randomness are passed in, so that a run can be repeated.',
  },
  clockModules: {
    modules: ['perf_hooks', 'node:perf_hooks'],
    reason: 'Time comes in through the Clock, so that a test decides what time it is.',
  },
  environment: {
    modules: ['process', 'node:process'],
    reason: 'The global `process` is what the environment rules watch; use that.',
  },
  sideDoors: {
    modules: ['module', 'node:module'],
    importNames: ['createRequire', 'default'],
    reason: 'require() would pass by every import rule; use import.',
  },
  testTools: {
    modules: ['@orion/testkit', '@orion/testkit/**', 'vitest', 'vitest/**', 'fast-check'],
    reason: 'Test tools are for *.test.ts and testing/ folders: they are not installed with us.',
  },
  server: {
    modules: ['@orion/server', '@orion/server/**'],
    reason: 'No command but the one that starts the server loads it.',
  },
  adapters: {
    modules: ['@orion/llm-adapters'],
    reason: 'An app asks the agent for an adapter; only the scripted provider is its own business.',
  },
} as const satisfies Record<string, Ban>;

type BanName = keyof typeof bans;

const everything = Object.keys(bans) as BanName[];
const builtins: readonly BanName[] = [
  'files',
  'processes',
  'sqlite',
  'timers',
  'entropy',
  'clockModules',
  'environment',
  'sideDoors',
];
/** Only `core` and `protocols` are without a clock and without chance. */
const determinism: readonly BanName[] = ['timers', 'entropy', 'clockModules'];

const error = <Option>(...options: Option[]): ['error', ...Option[]] => ['error', ...options];

const imports = (allowed: readonly BanName[]) => ({
  'no-restricted-imports': error({
    patterns: everything
      .filter((name) => !allowed.includes(name))
      .map((name) => {
        const ban: Ban = bans[name];
        // Anchored, since a bare gitignore pattern `pg` would also match `./pg`.
        const names = ban.modules.map((module) =>
          module.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace('\\*\\*', '.+'),
        );
        return {
          regex: `^(${names.join('|')})$`,
          message: ban.reason,
          ...(ban.importNames ? { importNames: [...ban.importNames] } : {}),
        };
      }),
  }),
});

const ENVIRONMENT_REASON =
  'The environment is read in agent/src/config and where an app starts; everyone else is given values.';
const environmentProperties = [
  { object: 'process', property: 'env', message: ENVIRONMENT_REASON },
  { object: 'process', property: 'loadEnvFile', message: ENVIRONMENT_REASON },
];
const sideDoorProperties = [
  { object: 'process', property: 'getBuiltinModule', message: bans.sideDoors.reason },
];
const determinismProperties = [
  { object: 'Date', property: 'now', message: bans.timers.reason },
  { object: 'Math', property: 'random', message: bans.entropy.reason },
  { object: 'AbortSignal', property: 'timeout', message: bans.timers.reason },
  { object: 'process', property: 'hrtime', message: bans.timers.reason },
  { object: 'process', property: 'uptime', message: bans.timers.reason },
  { object: 'process', property: 'nextTick', message: bans.timers.reason },
];
/** R239: what makes a model answer. Of the server, only the runner of its queue may. */
const orchestration = ['runTurn', 'runOwnedTurn', 'recoverSession'];
const orchestrationProperties = (...allowed: string[]) =>
  orchestration
    .filter((property) => !allowed.includes(property))
    .map((property) => ({
      property,
      message: 'A route stores a turn; the queue has it run. There is no second way to a model.',
    }));
const properties = (...lists: { object?: string; property: string; message: string }[][]) => ({
  'no-restricted-properties': error(...lists.flat()),
});

const globals = (names: Record<string, string>) => ({
  'no-restricted-globals': error({
    globals: Object.entries(names).map(([name, message]) => ({ name, message })),
  }),
});
const globalObject = {
  globalThis: 'The rules on globals cannot see through it; name the global itself.',
  global: 'The rules on globals cannot see through it; name the global itself.',
};
const clockAndChance = {
  setTimeout: bans.timers.reason,
  setInterval: bans.timers.reason,
  setImmediate: bans.timers.reason,
  performance: bans.timers.reason,
  crypto: bans.entropy.reason,
  fetch: 'No I/O here: an adapter or the workspace is passed in.',
};

/** Files and the bans lifted for them; later lines win over earlier ones. */
const areas: [files: string[], allowed: readonly BanName[]][] = [
  [['packages/*/src/**'], [...determinism, 'adapters']],
  [['packages/{core,protocols}/src/**'], ['adapters']],
  [['packages/workspace/src/**'], [...determinism, 'adapters', 'files', 'processes']],
  [['packages/trace-store/src/**'], [...determinism, 'adapters', 'sqlite', 'postgres']],
  [
    // Make the empty file of a database with the right mode, and look at what lies there before SQLite does.
    [
      'packages/trace-store/src/engine/database-file.ts',
      'packages/trace-store/src/engine/schema-bounds.ts',
    ],
    [...determinism, 'adapters', 'sqlite', 'postgres', 'files'],
  ],
  [['packages/llm-adapters/src/**'], [...determinism, 'adapters', 'providers']],
  [['packages/tool-runner/src/{command,mcp}/**'], [...determinism, 'adapters', 'processes']],
  [
    // List processes, and look which of the paths exist that a sandbox hides.
    ['packages/tool-runner/src/command/{processes,sandbox}.ts'],
    [...determinism, 'adapters', 'processes', 'files'],
  ],
  [
    ['packages/agent/src/config.ts', 'packages/agent/src/config/**'],
    [...determinism, 'adapters', 'files'],
  ],
  [
    ['packages/testkit/src/**'],
    [...determinism, 'adapters', 'files', 'processes', 'sideDoors', 'testTools'],
  ],
  [['apps/*/src/**'], determinism],
  [['apps/cli/src/**'], [...determinism, 'files']],
  [
    ['apps/cli/src/demo.ts', 'apps/cli/src/demo/**'],
    [...determinism, 'files', 'processes'],
  ],
  // The command that starts the server, loaded by nothing else.
  [['apps/cli/src/commands/serve.ts'], [...determinism, 'files', 'server']],
  // The processes of `orion serve --workers`.
  [['apps/cli/src/serve/cluster.ts'], [...determinism, 'files', 'processes']],
  // The editor of the person's own choice.
  [
    ['apps/cli/src/chat/external-editor.ts', 'apps/cli/src/serve/open-page.ts'],
    [...determinism, 'files', 'processes'],
  ],
  [['apps/cli/src/start/compile-cache.ts'], [...determinism, 'files', 'sideDoors']],
  [['tools/**'], [...builtins, 'adapters', 'testTools']],
  // Servers without their sockets, several in one program.
  [['tools/durability/src/simulation/**'], [...builtins, 'adapters', 'testTools', 'server']],
  // The plain driver is what the store is measured against and by, and what makes an empty database.
  [
    [
      'tools/bench/src/store-{rates,conditions}.ts',
      'tools/bench/src/scale-{first-schema,rates}.ts',
      'tools/bench/src/postgres-usage.ts',
      'tools/durability/src/served-turns/databases.ts',
      'tools/durability/src/soak/tables.ts',
    ],
    [...builtins, 'adapters', 'testTools', 'postgres'],
  ],
];

// Tests are free in what they take from Node, the clock and the environment, never in layers.
const tests = ['**/*.test.ts', '**/testing/**'];
const testAreas: typeof areas = [
  [tests, [...builtins, 'adapters', 'testTools']],
  [
    ['packages/trace-store/src/**/*.test.ts', 'packages/trace-store/src/**/testing/**'],
    [...builtins, 'adapters', 'testTools', 'postgres'],
  ],
  [
    ['packages/llm-adapters/src/**/*.test.ts', 'packages/llm-adapters/src/**/testing/**'],
    [...builtins, 'adapters', 'testTools', 'providers'],
  ],
  [
    ['apps/*/src/**/*.test.ts', 'apps/*/src/**/testing/**'],
    [...builtins, 'testTools'],
  ],
  [
    ['tools/durability/src/simulation/**/*.test.ts'],
    [...builtins, 'adapters', 'testTools', 'server'],
  ],
];

export default defineConfig({
  plugins: ['eslint', 'typescript', 'unicorn', 'oxc', 'import'],
  // What is plainly wrong is an error; nothing is a warning.
  categories: { correctness: 'error' },
  ignorePatterns: ['**/dist/**', '**/coverage/**'],
  rules: {
    // A rejection that nobody awaits is a write that nobody knows has failed.
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    // A new event or state must be answered wherever one is told apart.
    'typescript/switch-exhaustiveness-check': [
      'error',
      { considerDefaultExhaustiveForUnions: true },
    ],
    // `any` switches off every check behind it; `unknown` asks for one.
    'typescript/no-explicit-any': 'error',
    // Only an Error carries a stack, a cause and a code.
    'typescript/only-throw-error': 'error',
    // A cycle makes the order of initialisation an accident. Types count: they tie files together.
    'import/no-cycle': ['error', { ignoreTypes: false }],
    // `fs` and `node:fs` are one module; one spelling keeps searches honest.
    'unicorn/prefer-node-protocol': 'error',
    // Going through a string by code points is what code about text does on purpose.
    'typescript/no-misused-spread': 'off',
    eqeqeq: ['error', 'always'],
    'no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
  },
  overrides: [
    ...areas.map(([files, allowed]) => ({ files, rules: imports(allowed) })),
    {
      files: ['packages/*/src/**'],
      rules: {
        ...properties(environmentProperties, sideDoorProperties),
        ...globals(globalObject),
        // stdout belongs to the app; a library that prints corrupts its output.
        'no-console': 'error',
      },
    },
    {
      files: ['packages/{core,protocols}/src/**'],
      rules: {
        ...properties(environmentProperties, sideDoorProperties, determinismProperties),
        ...globals({ ...globalObject, ...clockAndChance }),
      },
    },
    {
      files: ['packages/agent/src/config.ts', 'packages/agent/src/config/**'],
      rules: properties(sideDoorProperties),
    },
    {
      files: ['apps/*/src/**'],
      rules: {
        ...properties(environmentProperties, sideDoorProperties),
        ...globals(globalObject),
        // stdout carries model text or JSON lines and is written through one stream.
        'no-console': ['error', { allow: ['error'] }],
      },
    },
    {
      files: ['apps/*/src/main.ts', 'apps/*/src/cli.ts'],
      rules: properties(sideDoorProperties),
    },
    {
      files: ['apps/server/src/**'],
      rules: properties(environmentProperties, sideDoorProperties, orchestrationProperties()),
    },
    {
      files: ['apps/server/src/turns/turn-runner.ts'],
      rules: properties(
        environmentProperties,
        sideDoorProperties,
        orchestrationProperties('runOwnedTurn'),
      ),
    },
    ...testAreas.map(([files, allowed]) => ({ files, rules: imports(allowed) })),
    {
      files: tests,
      rules: {
        'no-restricted-properties': 'off',
        'no-restricted-globals': 'off',
        'no-console': 'off',
      },
    },
  ],
});
