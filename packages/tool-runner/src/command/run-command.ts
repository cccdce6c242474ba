import { isHighSurrogate, isLowSurrogate, OrionError } from '@orion/contracts';
import type {
  Clock,
  JsonObject,
  JsonValue,
  ProtectedChange,
  ProtectedReport,
  Redact,
  Tool,
} from '@orion/contracts';

import type { CapturedOutput } from './bounded-output.ts';
import { reportOutput } from './output-progress.ts';
import { protectedFacts, protectedSentence } from './protected-facts.ts';
import type { ProtectedFacts } from './protected-facts.ts';
import { runInGroup } from './process-group.ts';
import type { GroupEnd } from './process-group.ts';
import { sandboxed } from './sandbox.ts';
import type { Sandbox, SandboxScope } from './sandbox.ts';

export const RUN_COMMAND_TIMEOUT_MS: number = 120_000;
/** Of a command's output; beyond it the middle is left out. */
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
/** Linux takes no longer argument of a program. */
const MAX_LINE_BYTES = 131_071;
/** Of the beginning and of the end of an output that the model reads at once. */
const SHOWN_CHARACTERS = 2_000;
/** Of the line, which the model has written itself. */
const SHOWN_LINE = 1_000;
/** Of the JSON of what is shown, for each character: a control character takes six. All of it stays below what a result may have. */
const JSON_RATIO = 2.5;
/** What ending a command takes beyond its own limit: the registry's limit is only a second net. */
const ENDING_MS = 10_000;

export type RunCommandOptions = {
  readonly root: string;
  /** All that the command sees of the environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** `auto` runs a command without a sandbox where there is none, `require` refuses it. */
  readonly sandboxMode: 'auto' | 'require' | 'off';
  readonly findSandbox: (signal: AbortSignal) => Promise<Sandbox>;
  /** Asked before each command. */
  readonly guard: () => Promise<CommandGuard>;
  /** The longest time that a command may take; 120 seconds when left out. */
  readonly timeoutMs?: number;
  /** Takes keys in use out of what a line prints, before that is cut. */
  readonly redact?: Redact;
  readonly clock: Clock;
  readonly createId: () => string;
};

/** What one command is kept from. */
export type CommandGuard = {
  readonly scope: SandboxScope;
  /** What the command did to protected paths, once nothing of it runs. `undo` takes it back as far as that is possible. */
  settle(options: { readonly undo: boolean }): Promise<ProtectedReport>;
};

/** What the schema lets through. */
type Arguments = { readonly command: string; readonly timeout_seconds?: number };

/** Which protections held while a command ran. */
type Protections =
  | {
      readonly sandbox: 'bubblewrap';
      readonly network: 'off' | 'on';
      /** Some: the workspace has more than can be looked at. */
      readonly protected_paths: 'kept' | 'some_kept';
    }
  | { readonly sandbox: 'none'; readonly because: string };

/**
 * `run_command`: one shell line in the workspace.
 *
 * 1. The result says how the command ended and which protections held; a sandbox that could not be had is named.
 * 2. The model reads the first and last 2,000 characters at most, and how the command ended, however long its line is;
 *    up to 16 MiB are stored.
 * 3. Nothing of the command runs on when the call has its result.
 * 4. While it runs, a person sees how long and its latest line.
 * 5. What it did to protected paths is taken back in a sandbox, and part of the result in any case.
 */
export function createRunCommandTool(options: RunCommandOptions): Tool {
  const limitMs = options.timeoutMs ?? RUN_COMMAND_TIMEOUT_MS;
  const limitSeconds = Math.ceil(limitMs / 1_000);
  return {
    definition: {
      name: 'run_command',
      description:
        'Runs a shell command line in the workspace with /bin/sh, such as the tests. Its standard input is empty, and ' +
        'whatever it leaves running is ended. The user may be asked first. What it changes cannot be undone: write ' +
        'files with WritePlanTool_begin instead.',
      parameters: {
        type: 'object',
        properties: {
          command: { type: 'string', description: 'The line, as it would be typed into a shell' },
          timeout_seconds: {
            type: 'integer',
            minimum: 1,
            maximum: limitSeconds,
            default: limitSeconds,
            description: 'The command is ended after this time',
          },
        },
        required: ['command'],
        additionalProperties: false,
      },
    },
    effect: 'write',
    repeatableAfterWrite: true,
    resultMode: 'inline',
    timeoutMs: limitMs + ENDING_MS,
    normalize: (args) => ({ timeout_seconds: limitSeconds, ...args }),
    action: (args) => {
      const { command } = args as Arguments;
      return { kind: 'command', command, folder: options.root };
    },
    async execute(args, { signal, onProgress }) {
      const { command: line, timeout_seconds: seconds = limitSeconds } = args as Arguments;
      if (line.trim() === '' || line.includes('\0')) {
        throw new OrionError({
          code: 'INVALID_TOOL_ARGUMENTS',
          message: 'The arguments of run_command do not fit: command: a shell line is required',
          hint: 'Correct the named arguments and call again.',
        });
      }
      const bytes = Buffer.byteLength(line);
      if (bytes > MAX_LINE_BYTES) {
        throw new OrionError({
          code: 'INVALID_TOOL_ARGUMENTS',
          message: `The line has ${bytes} bytes; at most ${MAX_LINE_BYTES} can be run.`,
          hint: 'Write a script with WritePlanTool_begin, and run that.',
        });
      }
      const shell = ['/bin/sh', '-c', line] as const;
      const sandbox: Sandbox =
        options.sandboxMode === 'off'
          ? { kind: 'none', because: 'it is switched off' }
          : await options.findSandbox(signal);
      if (sandbox.kind === 'none' && options.sandboxMode === 'require') throw noSandbox(sandbox);
      const guard = await options.guard();
      const { scope } = guard;
      const inside = sandbox.kind === 'bubblewrap';
      const command = inside ? await sandboxed(sandbox.program, scope, shell) : shell;
      const progress =
        onProgress === undefined ? null : reportOutput(line, options.clock, onProgress);
      const running = runInGroup({
        command,
        isSandbox: inside,
        cwd: options.root,
        environment: inside ? { ...options.environment, TMPDIR: '/tmp' } : options.environment,
        id: options.createId(),
        timeoutMs: Math.min(seconds * 1_000, limitMs),
        maxOutputBytes: MAX_OUTPUT_BYTES,
        signal,
        clock: options.clock,
        ...(progress === null ? {} : { onOutput: (chunk: Uint8Array) => progress.push(chunk) }),
      }).finally(() => progress?.end());
      const settled = running.then(
        () => guard.settle({ undo: inside }),
        () => guard.settle({ undo: inside }),
      );
      const [end, { changes, truncated }] = await Promise.all([running, settled]);
      if (end.reason === 'aborted') throw endedWithTurn(changes, inside);
      const protections: Protections =
        sandbox.kind === 'bubblewrap'
          ? {
              sandbox: 'bubblewrap',
              network: scope.allowNetwork ? 'on' : 'off',
              protected_paths: truncated ? 'some_kept' : 'kept',
            }
          : { sandbox: 'none', because: sandbox.because };
      const facts = { ...factsOf(line, end, protections), ...protectedFacts(changes, inside) };
      const output = redacted(end.output, options.redact);
      return {
        result: { ...facts, command: shownLine(line), ...shownOutput(output) },
        stored: { ...facts, ...storedOutput(output) },
      };
    },
    summarize: summarizeCommand,
  };
}

function noSandbox({ because }: { readonly because: string }): OrionError {
  return new OrionError({
    code: 'TOOL_NOT_ALLOWED',
    message: `The command was not run: a sandbox is required, and ${because}.`,
    hint: 'Go on without commands, or ask the user to allow them without a sandbox.',
  });
}

function endedWithTurn(changes: readonly ProtectedChange[], undone: boolean): OrionError {
  const also = protectedSentence(protectedFacts(changes, undone));
  return new OrionError({
    code: 'ABORTED',
    message: `The command was ended with the turn. ${also}`.trim(),
  });
}

/** How the command ended. */
type Facts = {
  readonly command: string;
  readonly exit_code: number | null;
  readonly signal?: string;
  readonly timed_out?: true;
  readonly duration_ms: number;
  readonly protections: Protections;
  readonly ended_processes?: readonly string[];
};

function factsOf(command: string, end: GroupEnd, protections: Protections): Facts {
  return {
    command,
    exit_code: end.exitCode,
    ...(end.signal === null ? {} : { signal: end.signal }),
    ...(end.reason === 'timeout' ? { timed_out: true } : {}),
    duration_ms: Math.round(end.durationMs),
    protections,
    ...(end.ended.length === 0
      ? {}
      : { ended_processes: end.ended.map(({ pid, name }) => `${name} (${pid})`) }),
  };
}

function redacted(output: CapturedOutput, redact: Redact = String): CapturedOutput {
  return { ...output, head: redact(output.head), tail: redact(output.tail) };
}

function shownLine(line: string): string {
  const start = beginning(line, SHOWN_LINE);
  return start.length === line.length ? line : `${start}…`;
}

/** The beginning and the end, for the model. */
function shownOutput({ head, tail, bytes, omittedBytes }: CapturedOutput): JsonObject {
  if (omittedBytes === 0 && beginning(head, 2 * SHOWN_CHARACTERS).length === head.length) {
    return { output: head };
  }
  return {
    output_start: beginning(head, SHOWN_CHARACTERS),
    output_end: ending(omittedBytes === 0 ? head : tail, SHOWN_CHARACTERS),
    output_bytes: bytes,
  };
}

function beginning(text: string, limit: number): string {
  const count = countShown(limit, (at) => text.charAt(at));
  return text.slice(0, isHighSurrogate(text.charCodeAt(count - 1)) ? count - 1 : count);
}

function ending(text: string, limit: number): string {
  const from = text.length - countShown(limit, (at) => text.charAt(text.length - 1 - at));
  return text.slice(isLowSurrogate(text.charCodeAt(from)) ? from + 1 : from);
}

/** How many characters fit into the limit and its JSON; `characterAt` is empty beyond the last one. */
function countShown(limit: number, characterAt: (at: number) => string): number {
  let count = 0;
  let json = 0;
  for (; count < limit; count += 1) {
    const character = characterAt(count);
    // Half of a pair would be escaped alone.
    json += isPaired(character) ? 1 : JSON.stringify(character).length - 2;
    if (character === '' || json > limit * JSON_RATIO) break;
  }
  return count;
}

function isPaired(character: string): boolean {
  const code = character.charCodeAt(0);
  return isHighSurrogate(code) || isLowSurrogate(code);
}

/** Everything that was kept, for whoever looks closer. */
function storedOutput({ head, tail, bytes, omittedBytes }: CapturedOutput): JsonObject {
  if (omittedBytes === 0) return { output: head };
  return { output_start: head, omitted_bytes: omittedBytes, output_end: tail, output_bytes: bytes };
}

function summarizeCommand(result: JsonValue): string {
  const {
    command,
    exit_code: exitCode,
    signal,
    timed_out: timedOut,
    duration_ms: ms,
    ...facts
  } = result as Facts & ProtectedFacts;
  const end =
    timedOut === true
      ? 'ended at its time limit'
      : signal !== undefined
        ? `ended by ${signal}`
        : `exit code ${exitCode}`;
  // The end comes first: a long line is cut.
  return `${protectedSentence(facts)} ${end} after ${(ms / 1_000).toFixed(1)} s: ${command}`.trim();
}
