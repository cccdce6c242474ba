import { isFields } from '@orion/contracts';
import type {
  Clock,
  FinishReason,
  LlmAdapter,
  LlmEvent,
  Message,
  SendOptions,
  ToolCall,
  Usage,
} from '@orion/contracts';
import fastCheck from 'fast-check';

/**
 * A provider with bad intentions: a list of moves, the last of which it repeats for ever. It keeps the port's own
 * promises (it closes when it is aborted, it ends or throws), and none of a model's.
 */
export type Move =
  | ({ readonly kind: 'text'; readonly texts: readonly string[]; readonly finish: Finish } & Manner)
  | ({
      readonly kind: 'calls';
      readonly text: string;
      readonly calls: readonly CallPlan[];
    } & Manner)
  | ({ readonly kind: 'action'; readonly value: unknown } & Manner)
  | { readonly kind: 'error' | 'no_end' | 'throws'; readonly before: Beginning }
  | { readonly kind: 'silence' | 'endless'; readonly text: string }
  | { readonly kind: 'slow'; readonly text: string; readonly milliseconds: number };

type Finish = 'stop' | 'length' | 'refusal' | 'pause';

/** How a message comes, whatever it says. */
type Manner = {
  /** Before anything is said. */
  readonly thoughts: readonly string[];
  /** What the provider says of its output tokens, hidden reasoning included; null: nothing. */
  readonly tokens: number | null;
  /** It came in one read: what stands in it is there, also after an abort. */
  readonly atOnce: boolean;
};

/** What comes before a message breaks off. */
type Beginning = {
  readonly event: 'nothing' | 'text' | 'empty_text' | 'reasoning' | 'call_start' | 'usage';
  readonly text: string;
};

export type CallPlan = {
  readonly id: string;
  readonly name: string;
  readonly args: string;
  readonly state: ToolCall['state'];
  /** Announced, but never closed. */
  readonly open: boolean;
  /** In one piece, without deltas. */
  readonly whole: boolean;
};

export const TOOL_NAMES = [
  'read_file',
  'flaky',
  'changing',
  'throwing',
  'pollable',
  'write',
  'begin',
  'read_file_and_delete',
  'nobody',
  ' ',
] as const;

const path = fastCheck.constantFrom('a', 'b', './a');
const callPlan: fastCheck.Arbitrary<CallPlan> = fastCheck.record({
  id: fastCheck.constantFrom('1', '2', '', 'call_0_0'),
  name: fastCheck.constantFrom(...TOOL_NAMES),
  args: fastCheck.oneof(
    path.map((value) => JSON.stringify({ path: value })),
    fastCheck.constantFrom('', '{}', '[]', 'nonsense', '{"pa', '{"__proto__":1}'),
  ),
  state: fastCheck.constantFrom('complete', 'complete', 'complete', 'cut', 'malformed'),
  open: fastCheck.constantFrom(false, false, false, true),
  whole: fastCheck.boolean(),
});

const text = fastCheck.oneof(
  fastCheck.constantFrom('', ' ', 'Hello. ', '{"action":', '```json\n', '\ud83d'),
  fastCheck.string({ maxLength: 20 }),
);

const action = fastCheck.oneof(
  fastCheck.record({
    action: fastCheck.constant('next_step'),
    thinking: fastCheck.constantFrom({ task: 't' }, 'hm', null),
    tool: fastCheck.constantFrom(...TOOL_NAMES),
    args: fastCheck.oneof(fastCheck.record({ path }), fastCheck.jsonValue({ maxDepth: 1 })),
    description: fastCheck.constantFrom('', 'one', 'two'),
  }),
  fastCheck.record({
    action: fastCheck.constantFrom('complete', 'respond', 'ask_user', 'guardrail_stop', 'think'),
    message: fastCheck.constantFrom('', 'Done.'),
    question: fastCheck.constantFrom('', 'Which?'),
    reason: fastCheck.constantFrom('', 'No.'),
  }),
  fastCheck.jsonValue({ maxDepth: 2 }),
);

const manner: fastCheck.Arbitrary<Manner> = fastCheck.record({
  thoughts: fastCheck.array(text, { maxLength: 2 }),
  tokens: fastCheck.constantFrom(null, null, 0, 1, 30, 5000, 40_000),
  atOnce: fastCheck.boolean(),
});

const move: fastCheck.Arbitrary<Move> = fastCheck.oneof(
  { weight: 6, arbitrary: callsMove() },
  {
    weight: 5,
    arbitrary: fastCheck
      .tuple(action, manner)
      .map(([value, how]): Move => ({ kind: 'action', value, ...how })),
  },
  {
    weight: 4,
    arbitrary: fastCheck
      .record({
        texts: fastCheck.array(text, { maxLength: 4 }),
        finish: fastCheck.constantFrom<Finish>('stop', 'length', 'refusal', 'pause'),
        how: manner,
      })
      .map(({ texts, finish, how }): Move => ({ kind: 'text', texts, finish, ...how })),
  },
  {
    weight: 3,
    arbitrary: fastCheck.record({
      kind: fastCheck.constantFrom('error' as const, 'no_end' as const, 'throws' as const),
      before: fastCheck.record({
        event: fastCheck.constantFrom<Beginning['event']>(
          'nothing',
          'text',
          'empty_text',
          'reasoning',
          'call_start',
          'usage',
        ),
        text,
      }),
    }),
  },
  {
    weight: 1,
    arbitrary: fastCheck.record({
      kind: fastCheck.constantFrom('silence' as const, 'endless' as const),
      text,
    }),
  },
  {
    weight: 1,
    arbitrary: fastCheck.record({
      kind: fastCheck.constant('slow' as const),
      text,
      milliseconds: fastCheck.integer({ min: 1, max: 60_000 }),
    }),
  },
);

/** A file is begun, in the words of either kind of protocol, and something comes instead of it or as it. */
const beginAndMove: fastCheck.Arbitrary<readonly Move[]> = fastCheck
  .tuple(path, fastCheck.boolean(), move)
  .map(([target, asAction, next]) => [begin(target, asAction), next]);

/** Some do one thing for ever: the others seldom come to their last move. */
export const moves: fastCheck.Arbitrary<readonly Move[]> = fastCheck.oneof(
  fastCheck.tuple(move),
  fastCheck.array(move, { minLength: 1, maxLength: 10 }),
  fastCheck.array(beginAndMove, { minLength: 1, maxLength: 4 }).map((pairs) => pairs.flat()),
);

function begin(target: string, asAction: boolean): Move {
  const manner = { thoughts: [], tokens: null, atOnce: true };
  if (asAction) {
    const action = { action: 'next_step', thinking: { task: 't' }, tool: 'begin', description: '' };
    return { kind: 'action', value: { ...action, args: { path: target } }, ...manner };
  }
  const args = JSON.stringify({ path: target });
  const call = {
    id: '1',
    name: 'begin',
    args,
    state: 'complete',
    open: false,
    whole: false,
  } as const;
  return { kind: 'calls', text: '', calls: [call], ...manner };
}

function callsMove(): fastCheck.Arbitrary<Move> {
  return fastCheck
    .record({
      text,
      calls: fastCheck.array(callPlan, { minLength: 1, maxLength: 4 }),
      how: manner,
    })
    .map(({ text: said, calls: planned, how }): Move => ({
      kind: 'calls',
      text: said,
      calls: planned,
      ...how,
    }));
}

export type AdversaryClock = Clock & { advance(milliseconds: number): Promise<void> };

/** One request, and what came of it. */
export type PlayedRequest = {
  readonly messages: readonly Message[];
  readonly options: SendOptions;
  readonly move: Move;
  /** Of the content stage, which is the only one that asks for plain text. */
  readonly isContent: boolean;
  /** What the reader took. */
  readonly taken: LlmEvent[];
  /** Everything that the message says has been taken; what is left is its count and its end. */
  saidAll: boolean;
};

export type Adversary = LlmAdapter & {
  readonly requests: readonly PlayedRequest[];
  open(): number;
};

export function createAdversary(plan: readonly Move[], clock: AdversaryClock): Adversary {
  const requests: PlayedRequest[] = [];
  let open = 0;

  /** Lets time pass in small steps, so that an abort is noticed about when it happens. */
  async function wait(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
    for (let left = milliseconds; left > 0 && signal?.aborted !== true; left -= STEP_MS) {
      await clock.advance(Math.min(left, STEP_MS));
    }
  }

  async function* play(request: PlayedRequest): AsyncGenerator<LlmEvent> {
    const { move } = request;
    const { signal } = request.options;
    const isLeft = (): boolean => signal?.aborted === true;
    switch (move.kind) {
      case 'text':
      case 'calls':
      case 'action': {
        for (const event of contentOf(move)) {
          yield event;
          if (isLeft() && !move.atOnce) {
            yield ABORTED;
            return;
          }
        }
        request.saidAll = true;
        if (move.tokens !== null) yield { type: 'usage', usage: usageOf(move.tokens) };
        yield { type: 'finish', reason: finishOf(move) };
        return;
      }
      case 'error':
        yield* beginningOf(move.before);
        yield {
          type: 'error',
          error: { code: 'STREAM_BROKEN', message: 'broken', retryable: true },
        };
        return;
      case 'no_end':
        yield* beginningOf(move.before);
        return;
      case 'throws':
        yield* beginningOf(move.before);
        throw new Error('a defect of the adapter');
      case 'silence':
        yield say(move.text);
        await wait(SILENCE_MS, signal);
        yield isLeft() ? ABORTED : STALLED;
        return;
      case 'endless':
        for (let count = 0; count < ENDLESS_PIECES && !isLeft(); count++) {
          yield say(`${move.text} and on `);
        }
        yield isLeft() ? ABORTED : { type: 'finish', reason: 'length' };
        return;
      case 'slow':
        for (let count = 0; count < 3; count++) {
          await wait(move.milliseconds, signal);
          if (isLeft()) {
            yield ABORTED;
            return;
          }
          yield say(move.text);
        }
        yield { type: 'finish', reason: 'stop' };
        return;
    }
  }

  return {
    name: 'adversary',
    model: 'adversary',
    signalsMessageEnd: true,
    structuredOutput: true,
    requests,
    open: () => open,
    async *sendMessagesStreaming(messages, options) {
      const request: PlayedRequest = {
        messages: structuredClone(messages),
        options,
        move: plan[Math.min(requests.length, plan.length - 1)] ?? NOTHING,
        isContent: options.responseFormat?.type === 'text',
        taken: [],
        saidAll: false,
      };
      requests.push(request);
      open += 1;
      try {
        for await (const event of play(request)) {
          request.taken.push(event);
          yield event;
        }
      } finally {
        open -= 1;
      }
    },
  };
}

/** How late a closed request may notice it. */
export const STEP_MS: number = 1000;
/** Then an adapter gives up a server that says nothing. */
const SILENCE_MS = 300_000;
/** More than any limit of tokens lets through. */
const ENDLESS_PIECES = 6000;

const NOTHING: Move = { kind: 'throws', before: { event: 'nothing', text: '' } };
const ABORTED: LlmEvent = {
  type: 'error',
  error: { code: 'ABORTED', message: 'closed', retryable: false },
};
const STALLED: LlmEvent = {
  type: 'error',
  error: { code: 'STREAM_STALLED', message: 'silent', retryable: true },
};

/** What a request costs, by what its reader took: the whole count of the provider, or at least an estimate. */
export function tokensOf({ taken }: PlayedRequest): number {
  let characters = 0;
  let reported = 0;
  let isOver = false;
  const counted = new Map<number, number>();
  for (const event of taken) {
    if (event.type === 'text-delta' || event.type === 'reasoning-delta') {
      characters += event.text.length;
    } else if (event.type === 'tool-call-start') {
      characters += event.name.length;
    } else if (event.type === 'tool-call-delta') {
      counted.set(event.index, (counted.get(event.index) ?? 0) + event.argumentsDelta.length);
    } else if (event.type === 'tool-call-end') {
      counted.set(event.index, event.call.arguments.length);
    } else if (event.type === 'usage') {
      reported = event.usage.outputTokens;
    } else if (event.type === 'finish') {
      isOver = true;
    }
  }
  for (const length of counted.values()) characters += length;
  const estimate = Math.max(1, Math.ceil(characters / 4));
  return isOver && reported > 0 ? reported : Math.max(reported, estimate);
}

/** The text that a reader took. */
export function takenText(requests: readonly PlayedRequest[]): string {
  return requests
    .flatMap(({ taken }) => taken.map((event) => (event.type === 'text-delta' ? event.text : '')))
    .join('');
}

function say(value: string): LlmEvent {
  return { type: 'text-delta', text: value };
}

type WholeMessage = Extract<Move, Manner>;

function finishOf(move: WholeMessage): FinishReason {
  if (move.kind === 'text') return move.finish;
  return move.kind === 'calls' ? 'tool_calls' : 'stop';
}

function* contentOf(move: WholeMessage): Generator<LlmEvent> {
  for (const thought of move.thoughts) yield { type: 'reasoning-delta', text: thought };
  switch (move.kind) {
    case 'text':
      for (const value of move.texts) yield say(value);
      return;
    case 'calls':
      if (move.text !== '') yield say(move.text);
      yield* calls(move.calls);
      return;
    case 'action':
      yield say(JSON.stringify(move.value) ?? '');
  }
}

function* beginningOf({ event, text: value }: Beginning): Generator<LlmEvent> {
  switch (event) {
    case 'nothing':
      return;
    case 'text':
      yield say(value);
      return;
    case 'empty_text':
      yield say('');
      return;
    case 'reasoning':
      yield { type: 'reasoning-delta', text: value };
      return;
    case 'call_start':
      yield { type: 'tool-call-start', index: 0, id: '1', name: 'read_file' };
      yield { type: 'tool-call-delta', index: 0, argumentsDelta: value };
      return;
    case 'usage':
      yield { type: 'usage', usage: usageOf(1) };
  }
}

/** A call ends when the next one begins, and the last one with the message. */
function* calls(plans: readonly CallPlan[]): Generator<LlmEvent> {
  for (const [index, { id, name, args, state, open, whole }] of plans.entries()) {
    yield { type: 'tool-call-start', index, id, name };
    if (!whole) yield { type: 'tool-call-delta', index, argumentsDelta: args };
    if (open) continue;
    yield {
      type: 'tool-call-end',
      index,
      call: { id, name, arguments: args, state: stateOf(args, state) },
    };
  }
}

/** An adapter tells the truth about arguments; the plan may only make them worse. */
function stateOf(args: string, wanted: ToolCall['state']): ToolCall['state'] {
  if (args === '' || wanted !== 'complete') return wanted;
  try {
    return isFields(JSON.parse(args)) ? 'complete' : 'malformed';
  } catch {
    return args.startsWith('{') ? 'cut' : 'malformed';
  }
}

function usageOf(outputTokens: number): Usage {
  return { inputTokens: 1, outputTokens, cachedTokens: 0, reasoningTokens: 0 };
}
