import { parseFields } from '@orion/contracts';

import { checkEach, configurationError } from './configuration-error.ts';
import { spelled } from './named-value.ts';
import { pricesOf, type Prices } from './prices.ts';

/**
 * Everything that can be set, in one validated object. Each has one environment variable of the same meaning;
 * times are milliseconds, sizes bytes.
 */
export type Settings = {
  /** WRITE_SESSION_IDLE_MS: how long after a message without a marker the model is asked; 0 pauses at once. */
  readonly idleMs: number;
  /** WRITE_SESSION_SAVE_LINES, WRITE_SESSION_SAVE_MS: content is made durable after so many lines or so long. */
  readonly saveLines: number;
  readonly saveMs: number;
  /** WRITE_SESSION_MAX_AGE_MS: an orphan of this age is no longer offered and moves to the attic. */
  readonly maxAgeMs: number;
  /** WRITE_SESSION_MAX_BYTES */
  readonly maxBytes: number;
  /** WRITE_SESSION_MAX_IDLE_PROMPTS */
  readonly maxIdlePrompts: number;
  /** WRITE_SESSION_DONE_MODE */
  readonly doneMode: 'terminal' | 'first';
  /** WRITE_SESSION_DONE_SETTLE_MS */
  readonly doneSettleMs: number;
  /** WRITE_SESSION_STRICT: only the session's own end marker ends the content. */
  readonly strict: boolean;
  /** WRITE_SESSION_STRIP_FENCE */
  readonly stripFence: 'auto' | 'never';
  /** WRITE_SESSION_EOL: `match` gives new text the CRLF of a file that has nothing else; `as-is` never does. */
  readonly eol: 'match' | 'as-is';
  /** WRITE_SESSION_CONTEXT_BYTES: how much of the content so far a model is shown while it writes. */
  readonly contextBytes: number;
  /** WRITE_SESSION_SEAM */
  readonly seam: 'ask' | 'accept' | 'strict';
  /** ORION_CONTEXT_TOKENS: the model's context; null uses what is known of the model, or 8,192. */
  readonly contextTokens: number | null;
  /** ORION_OUTPUT_TOKENS: the limit of one answer; null uses what is known of the model. */
  readonly outputTokens: number | null;
  /** ORION_PREFILL: whether the model continues words that it is given; null uses what is known of the model. */
  readonly prefill: boolean | null;
  /** ORION_TEMPERATURE: null is 0.7 in plan mode and 0.3 in act mode for models known to take one, else none. */
  readonly temperature: number | null;
  /** ORION_SILENCE_MS: how long a provider may send nothing; null is a minute, and longer before its first event. */
  readonly silenceMs: number | null;
  /** MAX_DUPLICATE_ATTEMPTS: so often a model may repeat a call in one turn before it has to answer. */
  readonly maxDuplicateAttempts: number;
  /** MAX_IDLE_TOOL_PHASES: after so many tool phases in a row that bring nothing new a model has to answer. */
  readonly maxIdleToolPhases: number;
  /** MAX_ITERATIONS: standard: so many messages of a model may call tools; files that are written do not count. */
  readonly maxIterations: number;
  /** MAX_PHASE_CYCLES: two-stage: so many pairs of an action and a tool phase. */
  readonly maxPhaseCycles: number;
  /** MAX_TOOLS_PER_TOOL_PHASE: two-stage: so many calls of one message are run, and what follows is not read. */
  readonly maxToolsPerToolPhase: number;
  /** CONTROLLER_MAX_TURNS: controller: so many messages of a model. */
  readonly controllerMaxTurns: number;
  /** CONTROLLER_MAX_CALLS_PER_STEP: controller: so many tool calls in a row for one step of its plan. */
  readonly controllerMaxCallsPerStep: number;
  /** CONTROLLER_MAX_INVALID: controller: so often unusable output is corrected before the turn fails. */
  readonly controllerMaxInvalid: number;
  /** ORION_STOP_SECONDS, ORION_STOP_TOKENS: what model calls may take in one turn, streamed files left out. */
  readonly stopSeconds: number;
  readonly stopTokens: number;
  /** ORION_MAX_TURNS, ORION_MAX_SECONDS, ORION_MAX_TOKENS: the budget of one turn, streamed files included. */
  readonly maxTurns: number | null;
  readonly maxSeconds: number | null;
  readonly maxTokens: number | null;
  /** ORION_DEBUG_TOOL_RESULTS: results of tools are shown to the person as notices. */
  readonly debugShowToolResults: boolean;
  /** PROTOCOL_OVERRIDE_ENABLED: whether the metadata of a turn may choose its protocol. */
  readonly protocolOverrideEnabled: boolean;
  /** ORION_STATE_DIR: instead of `.orion` under the workspace. */
  readonly stateDirectory: string | null;
  /** DATABASE_URL: a Postgres that keeps conversations and traces, instead of a file in the state directory. */
  readonly databaseUrl: string | null;
  /** ORION_SESSIONS: whether write sessions are directories of the state directory, or rows of the Postgres. */
  readonly sessions: 'directory' | 'database';
  /** ORION_WAKE: how readers of a turn learn of what another process stored: by notifications, or ten times a second. */
  readonly wake: 'notify' | 'poll';
  /** ORION_ALLOW_PATH: globs of protected paths that may be written. */
  readonly allowPaths: readonly string[];
  /** ORION_ALLOW_HARD_LINK */
  readonly allowHardLink: boolean;
  /** ORION_ALLOW_OMISSIONS: a file may be replaced by one that says that it leaves out parts, without a question. */
  readonly allowOmissions: boolean;
  /** ORION_ALLOW_COMMAND: patterns of shell lines that may run without a question, one a line. */
  readonly allowCommands: readonly string[];
  /** ORION_APPROVE_COMMANDS: who agrees to other shell lines. */
  readonly approveCommands: 'auto' | 'ask' | 'never';
  /** ORION_SANDBOX: whether commands run in a sandbox where one can be had, only there, or never. */
  readonly sandbox: 'auto' | 'require' | 'off';
  /** ORION_ALLOW_NETWORK: whether commands in the sandbox may use the network. */
  readonly allowNetwork: boolean;
  /** ORION_COMMAND_SECONDS: the longest time that a command may take. */
  readonly commandSeconds: number;
  /** ORION_COMMAND_ENVIRONMENT: variables that commands see besides those that every program needs. */
  readonly commandEnvironment: readonly string[];
  /** ORION_ALLOW_MCP_TOOL: tools of MCP servers, as a model names them, that may run without a question. */
  readonly allowMcpTools: readonly string[];
  /** ORION_MCP_ENVIRONMENT: variables that the entries of MCP servers may name as `${NAME}`. */
  readonly mcpEnvironment: readonly string[];
  /** ORION_MCP_HOST: hosts, with or without a port, whose MCP servers may be asked over http. */
  readonly mcpHosts: readonly string[];
  /** ORION_OUTPUT_AUTO_CHARACTERS: a longer result of a tool is stored, and the model reads how it begins. */
  readonly outputAutoCharacters: number;
  /** ORION_OUTPUT_INLINE_CHARACTERS: the same for tools whose results a model needs whole. */
  readonly outputInlineCharacters: number;
  /** ORION_PRICES: what models cost, for the status line of a conversation. */
  readonly prices: Prices;
  /** TRACE_STRICT: a trace that cannot be kept fails the turn. */
  readonly traceStrict: boolean;
  /** ORION_TELEMETRY: `otlp` sends turns as spans to an OpenTelemetry collector. */
  readonly telemetry: 'none' | 'otlp';
  /** OTEL_EXPORTER_OTLP_ENDPOINT: that collector's address, without `/v1/traces`. */
  readonly otlpEndpoint: string | null;
};

/** How one setting is written: as text in an environment variable, as a JSON value in a file. */
type Format = {
  readonly expected: string;
  /** Of which a workspace file may lower the value: that can cost its user nothing but a shorter run. */
  readonly isLimit?: true;
  /** What a workspace file never decides, accepted or not. */
  readonly isOwn?: true;
  /** Both answer `undefined` for what is not of this format. */
  readonly fromText: (text: string) => unknown;
  readonly fromJson: (value: unknown) => unknown;
};

/** A number; as text written in digits, as `pattern` says. */
function numeric(expected: string, pattern: RegExp, fits: (value: number) => boolean): Format {
  const check = (value: number): number | undefined => (fits(value) ? value : undefined);
  return {
    expected,
    fromText: (text) => (pattern.test(text.trim()) ? check(Number(text)) : undefined),
    fromJson: (value) => (typeof value === 'number' ? check(value) : undefined),
  };
}

const integer = (minimum: number): Format =>
  numeric(
    `a whole number of at least ${minimum}`,
    /^\d+$/u,
    (value) => Number.isSafeInteger(value) && value >= minimum,
  );

/** A longer result may be cut before a model reads it: it has to be stored. */
const MAX_RESULT_CHARACTERS = 65_536;

const upTo = (maximum: number): Format =>
  numeric(
    `a whole number from 0 to ${maximum}`,
    /^\d+$/u,
    (value) => Number.isSafeInteger(value) && value >= 0 && value <= maximum,
  );

const limit = (minimum: number): Format => ({ ...integer(minimum), isLimit: true });

const decimal = (minimum: number, maximum: number): Format =>
  numeric(
    `a number from ${minimum} to ${maximum}`,
    /^\d+(\.\d+)?$/u,
    (value) => value >= minimum && value <= maximum,
  );

const boolean: Format = {
  expected: 'true or false',
  fromText: (text) => {
    const value = text.trim().toLowerCase();
    return value === 'true' ? true : value === 'false' ? false : undefined;
  },
  fromJson: (value) => (typeof value === 'boolean' ? value : undefined),
};

function oneOf(...values: readonly string[]): Format {
  const check = (value: string): string | undefined => (values.includes(value) ? value : undefined);
  return {
    expected: `one of ${values.join(', ')}`,
    fromText: (text) => check(text.trim().toLowerCase()),
    fromJson: (value) => (typeof value === 'string' ? check(value) : undefined),
  };
}

const text: Format = {
  expected: 'a text that is not empty',
  fromText: (value) => value,
  fromJson: (value) => (typeof value === 'string' && value.trim() !== '' ? value : undefined),
};

const list: Format = {
  expected: 'a list of texts',
  fromText: (value) =>
    value
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
  fromJson: (value) =>
    Array.isArray(value) && value.every((item) => typeof item === 'string' && item.trim() !== '')
      ? value
      : undefined,
};

/** One a line: a pattern may have commas. */
const lines: Format = {
  ...list,
  fromText: (value) =>
    value
      .split('\n')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
};

const prices: Format = {
  expected: 'an object such as {"gpt-5": {"input": 1.25, "cached": 0.125, "output": 10}}',
  fromText: (value) => pricesOf(parseFields(value)),
  fromJson: pricesOf,
};

const own = (format: Format): Format => ({ ...format, isOwn: true });

/** Of every setting: its variable, how its value is written, and its default. */
const SETTINGS: {
  readonly [Name in keyof Settings]: readonly [
    variable: string,
    format: Format,
    initial: Settings[Name],
  ];
} = {
  idleMs: ['WRITE_SESSION_IDLE_MS', integer(0), 2000],
  saveLines: ['WRITE_SESSION_SAVE_LINES', integer(1), 50],
  saveMs: ['WRITE_SESSION_SAVE_MS', integer(1), 5000],
  maxAgeMs: ['WRITE_SESSION_MAX_AGE_MS', integer(0), 3_600_000],
  maxBytes: ['WRITE_SESSION_MAX_BYTES', limit(1), 64 * 1024 * 1024],
  maxIdlePrompts: ['WRITE_SESSION_MAX_IDLE_PROMPTS', limit(0), 3],
  doneMode: ['WRITE_SESSION_DONE_MODE', oneOf('terminal', 'first'), 'terminal'],
  doneSettleMs: ['WRITE_SESSION_DONE_SETTLE_MS', integer(0), 250],
  strict: ['WRITE_SESSION_STRICT', boolean, false],
  stripFence: ['WRITE_SESSION_STRIP_FENCE', oneOf('auto', 'never'), 'auto'],
  eol: ['WRITE_SESSION_EOL', oneOf('match', 'as-is'), 'match'],
  contextBytes: ['WRITE_SESSION_CONTEXT_BYTES', integer(1024), 128 * 1024],
  seam: ['WRITE_SESSION_SEAM', oneOf('ask', 'accept', 'strict'), 'ask'],
  contextTokens: ['ORION_CONTEXT_TOKENS', integer(1), null],
  outputTokens: ['ORION_OUTPUT_TOKENS', integer(16), null],
  prefill: ['ORION_PREFILL', boolean, null],
  temperature: ['ORION_TEMPERATURE', decimal(0, 2), null],
  silenceMs: ['ORION_SILENCE_MS', integer(1), null],
  maxDuplicateAttempts: ['MAX_DUPLICATE_ATTEMPTS', limit(0), 3],
  maxIdleToolPhases: ['MAX_IDLE_TOOL_PHASES', limit(1), 2],
  maxIterations: ['MAX_ITERATIONS', limit(0), 5],
  maxPhaseCycles: ['MAX_PHASE_CYCLES', limit(0), 3],
  maxToolsPerToolPhase: ['MAX_TOOLS_PER_TOOL_PHASE', limit(1), 1],
  controllerMaxTurns: ['CONTROLLER_MAX_TURNS', limit(0), 20],
  controllerMaxCallsPerStep: ['CONTROLLER_MAX_CALLS_PER_STEP', limit(0), 5],
  controllerMaxInvalid: ['CONTROLLER_MAX_INVALID', limit(0), 2],
  stopSeconds: ['ORION_STOP_SECONDS', limit(1), 120],
  stopTokens: ['ORION_STOP_TOKENS', limit(1), 32_768],
  maxTurns: ['ORION_MAX_TURNS', limit(1), null],
  maxSeconds: ['ORION_MAX_SECONDS', limit(1), null],
  maxTokens: ['ORION_MAX_TOKENS', limit(1), null],
  debugShowToolResults: ['ORION_DEBUG_TOOL_RESULTS', boolean, false],
  protocolOverrideEnabled: ['PROTOCOL_OVERRIDE_ENABLED', boolean, false],
  stateDirectory: ['ORION_STATE_DIR', text, null],
  databaseUrl: ['DATABASE_URL', text, null],
  sessions: ['ORION_SESSIONS', own(oneOf('directory', 'database')), 'directory'],
  wake: ['ORION_WAKE', own(oneOf('notify', 'poll')), 'notify'],
  allowPaths: ['ORION_ALLOW_PATH', list, []],
  allowHardLink: ['ORION_ALLOW_HARD_LINK', boolean, false],
  allowOmissions: ['ORION_ALLOW_OMISSIONS', boolean, false],
  allowCommands: ['ORION_ALLOW_COMMAND', own(lines), []],
  approveCommands: ['ORION_APPROVE_COMMANDS', own(oneOf('auto', 'ask', 'never')), 'ask'],
  sandbox: ['ORION_SANDBOX', own(oneOf('auto', 'require', 'off')), 'auto'],
  allowNetwork: ['ORION_ALLOW_NETWORK', own(boolean), false],
  commandSeconds: ['ORION_COMMAND_SECONDS', limit(1), 120],
  commandEnvironment: ['ORION_COMMAND_ENVIRONMENT', own(list), []],
  allowMcpTools: ['ORION_ALLOW_MCP_TOOL', own(list), []],
  mcpEnvironment: ['ORION_MCP_ENVIRONMENT', own(list), []],
  mcpHosts: ['ORION_MCP_HOST', own(list), []],
  outputAutoCharacters: ['ORION_OUTPUT_AUTO_CHARACTERS', upTo(MAX_RESULT_CHARACTERS), 4_096],
  outputInlineCharacters: ['ORION_OUTPUT_INLINE_CHARACTERS', upTo(MAX_RESULT_CHARACTERS), 16_384],
  prices: ['ORION_PRICES', own(prices), {}],
  traceStrict: ['TRACE_STRICT', boolean, false],
  telemetry: ['ORION_TELEMETRY', oneOf('none', 'otlp'), 'none'],
  otlpEndpoint: ['OTEL_EXPORTER_OTLP_ENDPOINT', text, null],
};

export const DEFAULT_SETTINGS: Settings = Object.fromEntries(
  Object.entries(SETTINGS).map(([name, [, , initial]]) => [name, initial]),
) as unknown as Settings;

export function isSettingName(name: string): name is keyof Settings {
  return Object.hasOwn(SETTINGS, name);
}

/** Whether only the user decides it: a workspace file may not, even if it is accepted. */
export function isOwn(name: string): boolean {
  return isSettingName(name) && SETTINGS[name][1].isOwn === true;
}

export function isLimit(name: keyof Settings): boolean {
  return SETTINGS[name][1].isLimit === true;
}

/** The settings that an environment names. Throws CONFIG_INVALID naming every variable that is wrong. */
export function settingsFromEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): Partial<Settings> {
  let settings: Partial<Settings> = {};
  checkEach(Object.entries(SETTINGS), ([name, [variable, format]]) => {
    const text = environment[variable];
    if (text === undefined || text.trim() === '') return;
    const found = { source: variable, given: text, value: format.fromText(text) };
    const setting = checked(name as keyof Settings, found, `Correct or unset ${variable}`);
    settings = { ...settings, ...setting };
  });
  return settings;
}

/** One setting as a flag has it. Throws CONFIG_INVALID naming the flag. */
export function settingFromFlag(name: keyof Settings, text: string): Partial<Settings> {
  const { flag } = spelled(name);
  const value = SETTINGS[name][1].fromText(text);
  return checked(name, { source: flag, given: text, value }, `Correct ${flag}`);
}

/** One setting of a configuration file. Throws CONFIG_INVALID naming file and key. */
export function settingFromFile(
  name: keyof Settings,
  given: unknown,
  file: string,
): Partial<Settings> {
  const value = SETTINGS[name][1].fromJson(given);
  const found = { source: `${file}: ${name}`, given, value };
  return checked(name, found, `Correct or remove ${name} in ${file}`);
}

type Found = { readonly source: string; readonly given: unknown; readonly value: unknown };

function checked(name: keyof Settings, found: Found, remedy: string): Partial<Settings> {
  const { source, given, value } = found;
  if (value !== undefined) return { [name]: value } as Partial<Settings>;
  const { expected } = SETTINGS[name][1];
  throw configurationError(
    `${source} is ${JSON.stringify(given)}, but must be ${expected}.`,
    `${remedy} and start again.`,
  );
}
