import { sleep } from '@orion/contracts';
import type { Clock, LlmAdapter, LlmEvent, Message } from '@orion/contracts';
import { toolCall } from '@orion/testkit';

/** A tool of `scriptedTools`. */
export type ScriptedCall = 'look' | 'act' | 'ask' | 'hang';

/** What a turn does: so many calls of a tool, each behind a message, and a last message. */
export type TurnScript = {
  /** Unique in a run. */
  readonly name: string;
  readonly protocol: 'standard' | 'two-stage';
  readonly calls: readonly ScriptedCall[];
  readonly pieces: number;
  /** What people say about its questions, all at the same time, after so many milliseconds. */
  readonly answers: readonly ('yes' | 'no')[];
  readonly answerAfterMs: number;
  /** When its client cancels it after it was submitted; null if it does not. */
  readonly cancelAfterMs: number | null;
};

/** What the model itself is told of it. */
type Prompt = Pick<TurnScript, 'name' | 'protocol' | 'pieces' | 'calls'>;

const SCRIPT = /^script (\S+) (\S+) (\d+) (\S*)$/u;
/** Milliseconds between two pieces of a message, by turns. */
const PAUSES_MS = [20, 35, 150, 60, 400, 10];
/** Of a message that nobody reads to its end. */
const NOT_READ = 'not read ';

/** The prompt from which the model knows what to do. */
export function promptOf({ name, protocol, calls, pieces }: Prompt): string {
  return `script ${name} ${protocol} ${pieces} ${calls.join(',')}`;
}

/** What the model says in its message number `step`, counted from 0. */
export function pieceTexts({ name, pieces }: Prompt, step: number): readonly string[] {
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
      // A protocol with phases ends the message with its first call.
      if (script.protocol === 'two-stage') yield { type: 'text-delta', text: NOT_READ };
      yield { type: 'finish', reason: 'tool_calls' };
    },
  };
}

function readPlace(messages: readonly Message[]): { script: Prompt; step: number } {
  const at = messages.findLastIndex(({ role, content }) => role === 'user' && SCRIPT.test(content));
  const [, name = '', protocol, pieces = '', calls = ''] =
    SCRIPT.exec(messages[at]?.content ?? '') ?? [];
  const step = messages.slice(at).filter(({ role }) => role === 'assistant').length;
  return {
    script: {
      name,
      protocol: protocol === 'two-stage' ? protocol : 'standard',
      pieces: Number(pieces),
      calls: calls === '' ? [] : (calls.split(',') as ScriptedCall[]),
    },
    step,
  };
}
