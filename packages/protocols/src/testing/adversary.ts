import type {
  Clock,
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
  | { readonly kind: 'text'; readonly texts: readonly string[]; readonly finish: Finish }
  | { readonly kind: 'calls'; readonly text: string; readonly calls: readonly CallPlan[] }
  | { readonly kind: 'action'; readonly value: unknown }
  | { readonly kind: 'error' | 'no_end'; readonly text: string }
  | { readonly kind: 'throws' }
  | { readonly kind: 'silence' | 'endless'; readonly text: string }
  | { readonly kind: 'slow'; readonly text: string; readonly milliseconds: number };

type Finish = 'stop' | 'length' | 'refusal' | 'pause';

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

const move: fastCheck.Arbitrary<Move> = fastCheck.oneof(
  { weight: 6, arbitrary: callsMove() },
  { weight: 5, arbitrary: action.map((value): Move => ({ kind: 'action', value })) },
  {
    weight: 4,
    arbitrary: fastCheck.record({
      kind: fastCheck.constant('text' as const),
      texts: fastCheck.array(text, { maxLength: 4 }),
      finish: fastCheck.constantFrom<Finish>('stop', 'length', 'refusal', 'pause'),
    }),
  },
  {
    weight: 1,
    arbitrary: fastCheck.record({
      kind: fastCheck.constantFrom('error' as const, 'no_end' as const),
      text,
    }),
  },
  { weight: 1, arbitrary: fastCheck.constant<Move>({ kind: 'throws' }) },
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

/** Half of them do one thing for ever: the others seldom come to their last move. */
export const moves: fastCheck.Arbitrary<readonly Move[]> = fastCheck.oneof(
  fastCheck.tuple(move),
  fastCheck.array(move, { minLength: 1, maxLength: 10 }),
);

function callsMove(): fastCheck.Arbitrary<Move> {
  return fastCheck.record({
    kind: fastCheck.constant('calls' as const),
    text,
    calls: fastCheck.array(callPlan, { minLength: 1, maxLength: 4 }),
  });
}

export type AdversaryClock = Clock & { advance(milliseconds: number): Promise<void> };

export type Adversary = LlmAdapter & {
  /** What each request carried. */
  readonly requests: { readonly messages: readonly Message[]; readonly options: SendOptions }[];
  /** All text that it has sent. */
  readonly sent: string[];
  open(): number;
};

export function createAdversary(plan: readonly Move[], clock: AdversaryClock): Adversary {
  const requests: Adversary['requests'] = [];
  const sent: string[] = [];
  let open = 0;

  function say(value: string): LlmEvent {
    sent.push(value);
    return { type: 'text-delta', text: value };
  }

  /** Lets time pass in small steps, so that an abort is noticed about when it happens. */
  async function wait(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
    for (let left = milliseconds; left > 0 && signal?.aborted !== true; left -= STEP_MS) {
      await clock.advance(Math.min(left, STEP_MS));
    }
  }

  async function* play(move: Move, signal: AbortSignal | undefined): AsyncGenerator<LlmEvent> {
    switch (move.kind) {
      case 'text':
        for (const value of move.texts) yield say(value);
        yield { type: 'usage', usage: usageOf(move.texts.join('').length) };
        yield { type: 'finish', reason: move.finish };
        return;
      case 'calls':
        if (move.text !== '') yield say(move.text);
        yield* calls(move.calls);
        yield { type: 'finish', reason: 'tool_calls' };
        return;
      case 'action':
        yield say(JSON.stringify(move.value) ?? '');
        yield { type: 'finish', reason: 'stop' };
        return;
      case 'error':
        yield say(move.text);
        yield {
          type: 'error',
          error: { code: 'STREAM_BROKEN', message: 'broken', retryable: true },
        };
        return;
      case 'no_end':
        yield say(move.text);
        return;
      case 'throws':
        throw new Error('a defect of the adapter');
      case 'silence':
        yield say(move.text);
        await wait(Number.POSITIVE_INFINITY, signal);
        yield ABORTED;
        return;
      case 'endless':
        for (let count = 0; count < 100_000; count++) {
          if (signal?.aborted === true) break;
          yield say(`${move.text} and on `);
        }
        yield ABORTED;
        return;
      case 'slow':
        for (let count = 0; count < 3; count++) {
          await wait(move.milliseconds, signal);
          if (signal?.aborted === true) {
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
    sent,
    open: () => open,
    async *sendMessagesStreaming(messages, options) {
      const move = plan[Math.min(requests.length, plan.length - 1)] ?? { kind: 'throws' };
      requests.push({ messages: structuredClone(messages), options });
      open += 1;
      try {
        yield* play(move, options.signal);
      } finally {
        open -= 1;
      }
    },
  };
}

/** How late a closed request may notice it. */
export const STEP_MS: number = 1000;

const ABORTED: LlmEvent = {
  type: 'error',
  error: { code: 'ABORTED', message: 'closed', retryable: false },
};

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
    const value: unknown = JSON.parse(args);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? 'complete'
      : 'malformed';
  } catch {
    return args.startsWith('{') ? 'cut' : 'malformed';
  }
}

function usageOf(characters: number): Usage {
  return {
    inputTokens: 1,
    outputTokens: Math.ceil(characters / 4),
    cachedTokens: 0,
    reasoningTokens: 0,
  };
}
