import { BEGIN_TOOL_NAME, sleep } from '@orion/contracts';
import type { Clock, LlmAdapter, LlmEvent, Message } from '@orion/contracts';
import { toolCall } from '@orion/testkit';

/** A tool of `scriptedTools`, or a file that is written. */
export type ScriptedCall = 'look' | 'act' | 'ask' | 'hang' | 'write';

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

/** The file that a turn writes behind its message number `step`. */
export function fileOf({ name }: Pick<TurnScript, 'name'>, step: number): string {
  return `${name}-${step}.txt`;
}

/** Its text: no line is in it twice. */
export function fileText({ name, pieces }: Prompt, step: number): string {
  return Array.from({ length: pieces * 2 }, (_, line) => `line ${line} of ${name}/${step}\n`).join(
    '',
  );
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
      const content = contentOf(messages, script);
      const isAgain = isForgotten(messages.at(-1));
      const texts = content ?? (isAgain ? [] : pieceTexts(script, step));
      for (const [piece, text] of texts.entries()) {
        await sleep(clock, PAUSES_MS[piece % PAUSES_MS.length] ?? 0, ...(signal ? [signal] : []));
        if (signal?.aborted === true) {
          yield { type: 'error', error: { code: 'ABORTED', message: 'left', retryable: false } };
          return;
        }
        yield { type: 'text-delta', text };
      }
      const name = content === null ? script.calls[step] : undefined;
      if (name === undefined) {
        yield { type: 'finish', reason: 'stop' };
        return;
      }
      const id = `${script.name}-${step}${isAgain ? '-again' : ''}`;
      const call =
        name === 'write'
          ? toolCall(id, BEGIN_TOOL_NAME, {
              intent: 'a file',
              target_file: fileOf(script, step),
              operation: 'create',
            })
          : toolCall(id, name, { step });
      yield { type: 'tool-call-start', index: 0, id: call.id, name: call.name };
      yield { type: 'tool-call-delta', index: 0, argumentsDelta: call.arguments };
      yield { type: 'tool-call-end', index: 0, call };
      // A protocol with phases ends the message with its first call.
      if (script.protocol === 'two-stage') yield { type: 'text-delta', text: NOT_READ };
      yield { type: 'finish', reason: 'tool_calls' };
    },
  };
}

/** What the model says where it is asked for a file, in pieces; null where it is not. */
function contentOf(messages: readonly Message[], script: Prompt): readonly string[] | null {
  const last = messages.findLast(({ role }) => role !== 'system');
  const asked = last?.content ?? '';
  const step = script.calls.findIndex(
    (call, index) => call === 'write' && asked.includes(fileOf(script, index)),
  );
  const isBegun = last?.role === 'tool' && asked.includes('as your next message');
  if (step === -1 || (last?.role !== 'user' && !isBegun)) return null;
  const text = fileText(script, step);
  const marker = /\bDONE [0-9a-f]{4}\b/u.exec(asked)?.[0] ?? 'DONE';
  const quote = /<tail-([0-9a-f]+)>\n([\s\S]*?)\n?<\/tail-\1>/u.exec(asked)?.[2];
  if (quote !== undefined && text.trimEnd().endsWith(quote.trimEnd())) return [marker];
  const from = quote === undefined ? 0 : text.indexOf(quote);
  const rest = `${text.slice(Math.max(0, from))}${marker}\n`;
  return rest.match(/[\s\S]{1,40}/gu) ?? [];
}

function readPlace(messages: readonly Message[]): { script: Prompt; step: number } {
  const at = messages.findLastIndex(({ role, content }) => role === 'user' && SCRIPT.test(content));
  const [, name = '', protocol, pieces = '', calls = ''] =
    SCRIPT.exec(messages[at]?.content ?? '') ?? [];
  const said = messages.slice(at);
  // A file that a failover has forgotten is begun again.
  const step =
    said.filter(({ role }) => role === 'assistant').length - said.filter(isForgotten).length;
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

function isForgotten(message: Message | undefined): boolean {
  return message?.role === 'tool' && message.content.includes('SESSION_NOT_FOUND');
}
