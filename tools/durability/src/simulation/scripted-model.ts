import { sleep } from '@orion/contracts';
import type { Clock, LlmAdapter, LlmEvent, Message, Tool } from '@orion/contracts';
import { toolCall } from '@orion/testkit';

/** What a turn does: so many calls of a tool, each behind a message, and a last message. */
export type TurnScript = {
  /** Unique in a run. */
  readonly name: string;
  readonly calls: readonly ('look' | 'act')[];
  readonly pieces: number;
};

const SCRIPT = /^script (\S+) (\d+) (\S*)$/u;
/** Milliseconds between two pieces of a message, by turns. */
const PAUSES_MS = [20, 35, 150, 60, 400, 10];
const TOOL_MS = { look: 150, act: 900 };

/** The prompt from which the model knows what to do. */
export function promptOf({ name, calls, pieces }: TurnScript): string {
  return `script ${name} ${pieces} ${calls.join(',')}`;
}

/** What the model says in its message number `step`, counted from 0. */
export function pieceTexts({ name, pieces }: TurnScript, step: number): readonly string[] {
  return Array.from({ length: pieces }, (_, piece) => `${name}/${step}/${piece} `);
}

/** Answers the same to the same history, however often it is asked, and takes its time. */
export function scriptedModel(clock: Clock): LlmAdapter {
  return {
    name: 'scripted',
    model: 'scripted',
    signalsMessageEnd: true,
    structuredOutput: false,
    async *sendMessagesStreaming(messages, { signal }): AsyncGenerator<LlmEvent> {
      const { script, step } = readPlace(messages);
      for (const [piece, text] of pieceTexts(script, step).entries()) {
        await sleep(clock, PAUSES_MS[piece % PAUSES_MS.length] ?? 0, ...(signal ? [signal] : []));
        if (signal?.aborted === true) {
          yield { type: 'error', error: { code: 'ABORTED', message: 'left', retryable: false } };
          return;
        }
        yield { type: 'text-delta', text };
      }
      const name = script.calls[step];
      if (name === undefined) {
        yield { type: 'finish', reason: 'stop' };
        return;
      }
      const call = toolCall(`${script.name}-${step}`, name, { step });
      yield { type: 'tool-call-start', index: 0, id: call.id, name };
      yield { type: 'tool-call-delta', index: 0, argumentsDelta: call.arguments };
      yield { type: 'tool-call-end', index: 0, call };
      yield { type: 'finish', reason: 'tool_calls' };
    },
  };
}

export function scriptedTools(clock: Clock): readonly Tool[] {
  return (['look', 'act'] as const).map((name): Tool => ({
    definition: {
      name,
      description: name,
      parameters: { type: 'object', properties: { step: { type: 'integer' } } },
    },
    effect: name === 'look' ? 'read' : 'write',
    async execute(_, { signal }) {
      await sleep(clock, TOOL_MS[name], signal);
      return { result: name };
    },
  }));
}

function readPlace(messages: readonly Message[]): { script: TurnScript; step: number } {
  const at = messages.findLastIndex(({ role, content }) => role === 'user' && SCRIPT.test(content));
  const [, name = '', pieces = '', calls = ''] = SCRIPT.exec(messages[at]?.content ?? '') ?? [];
  const step = messages.slice(at).filter(({ role }) => role === 'assistant').length;
  return {
    script: {
      name,
      pieces: Number(pieces),
      calls: calls === '' ? [] : (calls.split(',') as TurnScript['calls']),
    },
    step,
  };
}
