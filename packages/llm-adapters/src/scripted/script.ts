import { OrionError } from '@orion/contracts';
import { z } from 'zod';

/** A text matches if all conditions hold. A plain string means `contains`. */
export type TextMatch =
  | string
  | {
      readonly contains?: string | readonly string[] | undefined;
      readonly matches?: string | undefined;
      readonly not?: string | undefined;
    };

export type CountMatch =
  | number
  | { readonly min?: number | undefined; readonly max?: number | undefined };

/** Conditions on a request, all of which must hold. */
export type When = {
  /** The role of the last message; trailing system messages do not count. */
  readonly lastRole?: 'user' | 'assistant' | 'tool' | undefined;
  readonly last?: TextMatch | undefined;
  readonly lastUser?: TextMatch | undefined;
  readonly system?: TextMatch | undefined;
  /** Any message of the conversation. */
  readonly history?: TextMatch | undefined;
  /** The n-th tool message, from 1; negative from the end. */
  readonly toolResult?: { readonly nth: number; readonly text?: TextMatch | undefined } | undefined;
  readonly toolResults?: CountMatch | undefined;
  readonly assistantMessages?: CountMatch | undefined;
  readonly userMessages?: CountMatch | undefined;
  readonly tools?: boolean | undefined;
  readonly offersTool?: string | undefined;
  readonly toolChoice?: 'auto' | 'none' | 'required' | undefined;
};

/** How the bytes of a reply look and flow. */
export type Shape = {
  /**
   * Characters per event: a fixed number, a random one between two numbers, or these in turn, the last one for all that
   * follow.
   */
  readonly chunk?:
    | number
    | readonly number[]
    | { readonly min: number; readonly max: number }
    | undefined;
  /** Events may also split a surrogate pair. */
  readonly splitSurrogates?: boolean | undefined;
  /** The body is written in pieces of this many bytes, cut anywhere. */
  readonly bytes?: number | { readonly min: number; readonly max: number } | undefined;
  readonly seed?: number | undefined;
  readonly eventsPerSecond?: number | undefined;
  readonly firstDelayMs?: number | undefined;
  readonly crlf?: boolean | undefined;
  /** Keep-alive comments: this many before the first event, and one before every hundredth. */
  readonly comments?: number | undefined;
  /** Reasoning before the reply, and the field that holds it. */
  readonly reasoning?: string | undefined;
  readonly reasoningField?: 'reasoning_content' | 'reasoning' | 'think' | undefined;
  readonly usage?: boolean | undefined;
  /** What ends the stream. */
  readonly endMark?: 'both' | 'finish_reason' | 'done' | undefined;
  readonly changingIds?: boolean | undefined;
  /** Stops with `length` after about as many tokens as the request allows (4 characters each). */
  readonly honourMaxTokens?: boolean | undefined;
};

/**
 * `length`: stops and says so. `stop`: stops and says that the answer is complete. `end`: the body ends in order, but
 * without an end mark. `disconnect`, `reset`: the connection breaks. `error`: an error in the stream. `stall`: silence.
 * `status`: an HTTP status instead of a stream.
 */
export type FaultKind = (typeof FAULT_KINDS)[number];

const FAULT_KINDS = [
  'length',
  'stop',
  'disconnect',
  'reset',
  'error',
  'end',
  'stall',
  'status',
] as const;

export type Fault = {
  readonly kind: FaultKind;
  /** Which replies, counted from the request (see `replyNumber`); by default all. */
  readonly reply?: number | readonly number[] | undefined;
  /** After how much of the reply; by default at its end (`length`, `stop`, `end`) or before it (all others). */
  readonly at?:
    | { readonly characters?: number | undefined; readonly lines?: number | undefined }
    | undefined;
  /** At most this often in one server process. */
  readonly times?: number | undefined;
  /** `status` only. */
  readonly status?: number | undefined;
  readonly retryAfter?: string | undefined;
  /** `error` and `status`. */
  readonly message?: string | undefined;
  readonly type?: string | undefined;
  readonly code?: string | number | undefined;
  /** `error` only: send it after the finish reason. */
  readonly afterFinish?: boolean | undefined;
  /** `stall` only: continue after this time; by default never. */
  readonly forMs?: number | undefined;
};

export type DocumentContent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'file'; readonly path: string }
  /** `{n}` is the line's number, `{n:6}` the same padded with zeros; `{hex}` and `{words:k}` follow from the number. */
  | {
      readonly kind: 'lines';
      readonly count: number;
      readonly template: string;
      readonly finalNewline?: boolean | undefined;
    };

export type ContinuationVariant = (typeof VARIANTS)[number];

const VARIANTS = [
  'compliant',
  'repeat_extra',
  'skip_lines',
  'start_late',
  'no_anchor',
  'refence',
  'polite',
  'restart',
  'ignore',
] as const;

export type Continuation = {
  readonly variant: ContinuationVariant;
  /** For this many continuations, then the next entry; by default for all that follow. */
  readonly first?: number | undefined;
  /** `repeat_extra`, `skip_lines`. */
  readonly lines?: number | undefined;
  /** `polite`, `ignore`: the words; `refence`: the language of the fence. */
  readonly text?: string | undefined;
  /** `refence`: the place of the closing fence. */
  readonly close?: 'before_marker' | 'after_marker' | 'never' | undefined;
};

export type DocumentReply = {
  readonly target: string;
  readonly content: DocumentContent;
  /** `DONE`; `session`: the marker that the prompt names, if any; `none`; any other line. */
  readonly endMarker?: string | undefined;
  /** Text before and after the content of the first message. */
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  /** Wraps the content of the first message in a fence of this language. */
  readonly fence?: string | undefined;
  readonly continuations?: readonly Continuation[] | undefined;
  /** Continuations are counted from the prompts in the request, or by this server process. */
  readonly countBy?: 'request' | 'process' | undefined;
  /** Fixed answers to questions; by default those of a compliant model. */
  readonly answers?: { readonly [Asked in Question]?: string | undefined } | undefined;
};

type Question = (typeof QUESTIONS)[number];

const QUESTIONS = ['empty', 'ambiguous', 'nearMiss', 'fence'] as const;

export type ScriptedCall = {
  readonly id?: string | undefined;
  readonly name: string;
  /** An object, or the exact text to send. */
  readonly arguments?: string | Readonly<Record<string, unknown>> | undefined;
};

export type Reply = {
  readonly text?: string | undefined;
  readonly toolCalls?: readonly ScriptedCall[] | undefined;
  readonly finishReason?: string | undefined;
  readonly document?: DocumentReply | undefined;
  /** The exact body, for what the other options cannot express. */
  readonly raw?: { readonly body: string; readonly contentType?: string | undefined } | undefined;
};

export type Behaviour = {
  readonly name?: string | undefined;
  readonly when?: When | undefined;
  /** At most this often in one server process; then later behaviours apply. */
  readonly times?: number | undefined;
  readonly reply: Reply;
  readonly shape?: Shape | undefined;
  readonly faults?: readonly Fault[] | undefined;
};

export type Script = {
  readonly version?: 1 | undefined;
  /** The key that requests must carry; by default any or none. */
  readonly apiKey?: string | undefined;
  readonly shape?: Shape | undefined;
  readonly faults?: readonly Fault[] | undefined;
  /** The first match answers a request. */
  readonly behaviours: readonly Behaviour[];
};

const pattern = z.string().refine(isPattern, { error: 'is not a regular expression' });
const natural = z.int().min(0);
const positive = z.int().min(1);
const range = z
  .strictObject({ min: positive, max: positive })
  .refine(({ min, max }) => min <= max, {
    error: 'min is larger than max',
  });

const textMatch = z.union([
  z.string(),
  z.strictObject({
    contains: z.union([z.string(), z.array(z.string())]).optional(),
    matches: pattern.optional(),
    not: z.string().optional(),
  }),
]);
const countMatch = z.union([
  natural,
  z.strictObject({ min: natural.optional(), max: natural.optional() }),
]);

const when = z.strictObject({
  lastRole: z.enum(['user', 'assistant', 'tool']).optional(),
  last: textMatch.optional(),
  lastUser: textMatch.optional(),
  system: textMatch.optional(),
  history: textMatch.optional(),
  toolResult: z
    .strictObject({
      nth: z.int().refine((nth) => nth !== 0, { error: 'counts from 1, or from -1 backwards' }),
      text: textMatch.optional(),
    })
    .optional(),
  toolResults: countMatch.optional(),
  assistantMessages: countMatch.optional(),
  userMessages: countMatch.optional(),
  tools: z.boolean().optional(),
  offersTool: z.string().optional(),
  toolChoice: z.enum(['auto', 'none', 'required']).optional(),
});

const shape = z.strictObject({
  chunk: z.union([positive, z.array(positive).min(1), range]).optional(),
  splitSurrogates: z.boolean().optional(),
  bytes: z.union([positive, range]).optional(),
  seed: z.int().optional(),
  eventsPerSecond: z.number().min(0).optional(),
  firstDelayMs: natural.optional(),
  crlf: z.boolean().optional(),
  comments: natural.optional(),
  reasoning: z.string().optional(),
  reasoningField: z.enum(['reasoning_content', 'reasoning', 'think']).optional(),
  usage: z.boolean().optional(),
  endMark: z.enum(['both', 'finish_reason', 'done']).optional(),
  changingIds: z.boolean().optional(),
  honourMaxTokens: z.boolean().optional(),
});

const fault = z
  .strictObject({
    kind: z.enum(FAULT_KINDS),
    reply: z.union([positive, z.array(positive).min(1)]).optional(),
    at: z.strictObject({ characters: natural.optional(), lines: natural.optional() }).optional(),
    times: positive.optional(),
    status: z.int().min(400).max(599).optional(),
    retryAfter: z.string().optional(),
    message: z.string().optional(),
    type: z.string().optional(),
    code: z.union([z.string(), z.number()]).optional(),
    afterFinish: z.boolean().optional(),
    forMs: natural.optional(),
  })
  .refine((value) => (value.kind === 'status') === (value.status !== undefined), {
    error: 'a status belongs to kind "status", and only to it',
    path: ['status'],
  });

const documentContent = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('text'), text: z.string() }),
  z.strictObject({ kind: z.literal('file'), path: z.string().min(1) }),
  z.strictObject({
    kind: z.literal('lines'),
    count: natural.max(10_000_000),
    template: z.string(),
    finalNewline: z.boolean().optional(),
  }),
]);

const continuation = z.strictObject({
  variant: z.enum(VARIANTS),
  first: positive.optional(),
  lines: positive.optional(),
  text: z.string().optional(),
  close: z.enum(['before_marker', 'after_marker', 'never']).optional(),
});

const documentReply = z.strictObject({
  target: z.string().min(1),
  content: documentContent,
  endMarker: z.string().min(1).optional(),
  before: z.string().optional(),
  after: z.string().optional(),
  fence: z.string().optional(),
  continuations: z.array(continuation).optional(),
  countBy: z.enum(['request', 'process']).optional(),
  answers: z.partialRecord(z.enum(QUESTIONS), z.string()).optional(),
});

const reply = z
  .strictObject({
    text: z.string().optional(),
    toolCalls: z
      .array(
        z.strictObject({
          id: z.string().optional(),
          name: z.string().min(1),
          arguments: z.union([z.string(), z.record(z.string(), z.unknown())]).optional(),
        }),
      )
      .min(1)
      .optional(),
    finishReason: z.string().optional(),
    document: documentReply.optional(),
    raw: z.strictObject({ body: z.string(), contentType: z.string().optional() }).optional(),
  })
  .refine(
    (value) =>
      [
        value.text !== undefined || value.toolCalls !== undefined,
        value.document !== undefined,
        value.raw !== undefined,
      ].filter(Boolean).length === 1,
    { error: 'needs one of: text and/or toolCalls, document, raw' },
  );

const behaviour = z.strictObject({
  name: z.string().optional(),
  when: when.optional(),
  times: positive.optional(),
  reply,
  shape: shape.optional(),
  faults: z.array(fault).optional(),
});

export const scriptSchema: z.ZodType<Script> = z.strictObject({
  version: z.literal(1).optional(),
  apiKey: z.string().min(1).optional(),
  shape: shape.optional(),
  faults: z.array(fault).optional(),
  behaviours: z.array(behaviour).min(1),
});

/** Parses a script from an object or from JSON text. The error names every fault with its place. */
export function parseScript(source: unknown): Script {
  let value = source;
  if (typeof source === 'string') {
    try {
      value = JSON.parse(source);
    } catch (error) {
      throw invalidScript(
        `The script is not JSON: ${error instanceof Error ? error.message : String(error)}`,
        error,
      );
    }
  }
  const result = scriptSchema.safeParse(value);
  if (result.success) return result.data;
  const faults = result.error.issues.map(
    ({ path, message }) => `${z.core.toDotPath(path) || '(top level)'}: ${message}`,
  );
  throw invalidScript(`The script is not valid. ${faults.slice(0, 5).join('; ')}`, result.error);
}

export function invalidScript(message: string, cause?: unknown): OrionError {
  return new OrionError({ code: 'SCRIPT_INVALID', message, cause });
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}
