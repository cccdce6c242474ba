import { OrionError } from '@orion/contracts';

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
  /** ORION_CONTEXT_TOKENS: the model's context; null takes what is known of the model, 8,192 if nothing is. */
  readonly contextTokens: number | null;
  /** ORION_OUTPUT_TOKENS: the limit of one answer; null takes what is known of the model. */
  readonly outputTokens: number | null;
  /** ORION_PREFILL: whether the model goes on with words that are given to it; null takes what is known of it. */
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
  /** ORION_ALLOW_PATH: globs of protected paths that may be written. */
  readonly allowPaths: readonly string[];
  /** ORION_ALLOW_HARD_LINK */
  readonly allowHardLink: boolean;
  /** ORION_ALLOW_OMISSIONS: a file may be replaced by one that says that it leaves out parts, without a question. */
  readonly allowOmissions: boolean;
  /** TRACE_STRICT: a trace that cannot be kept fails the turn. */
  readonly traceStrict: boolean;
  /** ORION_TELEMETRY: `otlp` sends turns as spans to an OpenTelemetry collector. */
  readonly telemetry: 'none' | 'otlp';
  /** OTEL_EXPORTER_OTLP_ENDPOINT: that collector's address, without `/v1/traces`. */
  readonly otlpEndpoint: string | null;
};

export const DEFAULT_SETTINGS: Settings = {
  idleMs: 2000,
  saveLines: 50,
  saveMs: 5000,
  maxAgeMs: 3_600_000,
  maxBytes: 64 * 1024 * 1024,
  maxIdlePrompts: 3,
  doneMode: 'terminal',
  doneSettleMs: 250,
  strict: false,
  stripFence: 'auto',
  eol: 'match',
  contextBytes: 128 * 1024,
  seam: 'ask',
  contextTokens: null,
  outputTokens: null,
  prefill: null,
  temperature: null,
  silenceMs: null,
  maxDuplicateAttempts: 3,
  maxIdleToolPhases: 2,
  maxIterations: 5,
  maxPhaseCycles: 3,
  maxToolsPerToolPhase: 1,
  controllerMaxTurns: 20,
  controllerMaxCallsPerStep: 5,
  controllerMaxInvalid: 2,
  stopSeconds: 120,
  stopTokens: 32_768,
  maxTurns: null,
  maxSeconds: null,
  maxTokens: null,
  debugShowToolResults: false,
  protocolOverrideEnabled: false,
  stateDirectory: null,
  databaseUrl: null,
  allowPaths: [],
  allowHardLink: false,
  allowOmissions: false,
  traceStrict: false,
  telemetry: 'none',
  otlpEndpoint: null,
};

/** How one setting is written: as text in an environment variable, as a JSON value in a file. */
type Format = {
  readonly expected: string;
  /** Both answer `undefined` for what is not of this format. */
  readonly fromText: (text: string) => unknown;
  readonly fromJson: (value: unknown) => unknown;
};

/** A whole number of at least `minimum`; as text written in digits. */
function integer(minimum: number): Format {
  const check = (value: number): number | undefined =>
    Number.isSafeInteger(value) && value >= minimum ? value : undefined;
  return {
    expected: `a whole number of at least ${minimum}`,
    fromText: (text) => (/^\d+$/u.test(text.trim()) ? check(Number(text)) : undefined),
    fromJson: (value) => (typeof value === 'number' ? check(value) : undefined),
  };
}

/** A number from `minimum` to `maximum`; as text written in digits. */
function decimal(minimum: number, maximum: number): Format {
  const check = (value: number): number | undefined =>
    value >= minimum && value <= maximum ? value : undefined;
  return {
    expected: `a number from ${minimum} to ${maximum}`,
    fromText: (text) => (/^\d+(\.\d+)?$/u.test(text.trim()) ? check(Number(text)) : undefined),
    fromJson: (value) => (typeof value === 'number' ? check(value) : undefined),
  };
}

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

/** The variable of every setting and how its value is written. */
const VARIABLES: Readonly<Record<keyof Settings, readonly [name: string, format: Format]>> = {
  idleMs: ['WRITE_SESSION_IDLE_MS', integer(0)],
  saveLines: ['WRITE_SESSION_SAVE_LINES', integer(1)],
  saveMs: ['WRITE_SESSION_SAVE_MS', integer(1)],
  maxAgeMs: ['WRITE_SESSION_MAX_AGE_MS', integer(0)],
  maxBytes: ['WRITE_SESSION_MAX_BYTES', integer(1)],
  maxIdlePrompts: ['WRITE_SESSION_MAX_IDLE_PROMPTS', integer(0)],
  doneMode: ['WRITE_SESSION_DONE_MODE', oneOf('terminal', 'first')],
  doneSettleMs: ['WRITE_SESSION_DONE_SETTLE_MS', integer(0)],
  strict: ['WRITE_SESSION_STRICT', boolean],
  stripFence: ['WRITE_SESSION_STRIP_FENCE', oneOf('auto', 'never')],
  eol: ['WRITE_SESSION_EOL', oneOf('match', 'as-is')],
  contextBytes: ['WRITE_SESSION_CONTEXT_BYTES', integer(1024)],
  seam: ['WRITE_SESSION_SEAM', oneOf('ask', 'accept', 'strict')],
  contextTokens: ['ORION_CONTEXT_TOKENS', integer(1)],
  outputTokens: ['ORION_OUTPUT_TOKENS', integer(16)],
  prefill: ['ORION_PREFILL', boolean],
  temperature: ['ORION_TEMPERATURE', decimal(0, 2)],
  silenceMs: ['ORION_SILENCE_MS', integer(1)],
  maxDuplicateAttempts: ['MAX_DUPLICATE_ATTEMPTS', integer(0)],
  maxIdleToolPhases: ['MAX_IDLE_TOOL_PHASES', integer(1)],
  maxIterations: ['MAX_ITERATIONS', integer(0)],
  maxPhaseCycles: ['MAX_PHASE_CYCLES', integer(0)],
  maxToolsPerToolPhase: ['MAX_TOOLS_PER_TOOL_PHASE', integer(1)],
  controllerMaxTurns: ['CONTROLLER_MAX_TURNS', integer(0)],
  controllerMaxCallsPerStep: ['CONTROLLER_MAX_CALLS_PER_STEP', integer(0)],
  controllerMaxInvalid: ['CONTROLLER_MAX_INVALID', integer(0)],
  stopSeconds: ['ORION_STOP_SECONDS', integer(1)],
  stopTokens: ['ORION_STOP_TOKENS', integer(1)],
  maxTurns: ['ORION_MAX_TURNS', integer(1)],
  maxSeconds: ['ORION_MAX_SECONDS', integer(1)],
  maxTokens: ['ORION_MAX_TOKENS', integer(1)],
  debugShowToolResults: ['ORION_DEBUG_TOOL_RESULTS', boolean],
  protocolOverrideEnabled: ['PROTOCOL_OVERRIDE_ENABLED', boolean],
  stateDirectory: ['ORION_STATE_DIR', text],
  databaseUrl: ['DATABASE_URL', text],
  allowPaths: ['ORION_ALLOW_PATH', list],
  allowHardLink: ['ORION_ALLOW_HARD_LINK', boolean],
  allowOmissions: ['ORION_ALLOW_OMISSIONS', boolean],
  traceStrict: ['TRACE_STRICT', boolean],
  telemetry: ['ORION_TELEMETRY', oneOf('none', 'otlp')],
  otlpEndpoint: ['OTEL_EXPORTER_OTLP_ENDPOINT', text],
};

export function isSettingName(name: string): name is keyof Settings {
  return Object.hasOwn(VARIABLES, name);
}

/** The settings that an environment names. Throws CONFIG_INVALID naming the variable. */
export function settingsFromEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): Partial<Settings> {
  const settings: Record<string, unknown> = {};
  for (const [key, [name, format]] of Object.entries(VARIABLES)) {
    const text = environment[name];
    if (text === undefined || text.trim() === '') continue;
    const value = format.fromText(text);
    if (value === undefined) {
      throw new OrionError({
        code: 'CONFIG_INVALID',
        message: `${name} is ${JSON.stringify(text)}, but must be ${format.expected}.`,
        hint: `Correct or unset ${name} and start again.`,
      });
    }
    settings[key] = value;
  }
  return settings as Partial<Settings>;
}

/** One setting as a flag has it. Throws CONFIG_INVALID naming the flag. */
export function settingFromFlag(
  name: keyof Settings,
  flag: string,
  text: string,
): Partial<Settings> {
  const format = VARIABLES[name][1];
  const value = format.fromText(text);
  if (value === undefined) {
    throw new OrionError({
      code: 'CONFIG_INVALID',
      message: `${flag} is ${JSON.stringify(text)}, but must be ${format.expected}.`,
      hint: `Correct ${flag} and start again.`,
    });
  }
  return { [name]: value } as Partial<Settings>;
}

/** One setting of a configuration file. Throws CONFIG_INVALID naming file and key. */
export function settingFromFile(
  name: keyof Settings,
  value: unknown,
  file: string,
): Partial<Settings> {
  const format = VARIABLES[name][1];
  const read = format.fromJson(value);
  if (read === undefined) {
    throw new OrionError({
      code: 'CONFIG_INVALID',
      message: `${file}: ${name} is ${JSON.stringify(value)}, but must be ${format.expected}.`,
      hint: `Correct or remove ${name} in ${file} and start again.`,
    });
  }
  return { [name]: read } as Partial<Settings>;
}
