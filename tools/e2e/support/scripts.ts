import { createHash } from 'node:crypto';

import type {
  Behaviour,
  DocumentContent,
  DocumentReply,
  Fault,
  Script,
  Shape,
} from '@orion/llm-adapters/scripted';

export const BEGIN = 'WritePlanTool_begin';

export type BeginArguments = {
  readonly intent?: string;
  readonly target_file: string;
  readonly operation?: string;
  readonly [key: string]: unknown;
};

/** The model's call that opens a session, as the answer to a request with so many tool results before it. */
export function beginCall(args: BeginArguments, afterResults = 0): Behaviour {
  return {
    name: `begin ${args.target_file}`,
    when: { toolResults: afterResults, toolChoice: 'auto' },
    reply: {
      toolCalls: [{ name: BEGIN, arguments: { intent: 'test', operation: 'create', ...args } }],
    },
  };
}

export const LAST_WORD: Behaviour = { name: 'last word', reply: { text: 'All written.' } };

/** A model that writes one document: begin, the text, `DONE`, a last word. */
export function writeDocument(
  document: Omit<DocumentReply, 'content'> & { readonly content: DocumentContent | string },
  more: {
    readonly operation?: string;
    readonly faults?: readonly Fault[];
    readonly shape?: Shape;
  } = {},
): Script {
  const { content, ...rest } = document;
  return {
    shape: { chunk: { min: 1, max: 60 }, ...more.shape },
    behaviours: [
      {
        name: 'document',
        reply: {
          document: {
            ...rest,
            content: typeof content === 'string' ? { kind: 'text', text: content } : content,
          },
        },
        ...(more.faults === undefined ? {} : { faults: more.faults }),
      },
      beginCall({
        target_file: document.target,
        ...(more.operation === undefined ? {} : { operation: more.operation }),
      }),
      LAST_WORD,
    ],
  };
}

/**
 * A model that sends exactly these messages while it writes a file: the first one after begin, the others as
 * replies to prompts, the last one for ever.
 */
export function writeMessages(
  target: string,
  messages: readonly string[],
  more: {
    readonly operation?: string;
    readonly shape?: Shape;
    readonly begin?: object;
    /** Of the first message. */
    readonly faults?: readonly Fault[];
  } = {},
): Script {
  return {
    shape: { chunk: 5, ...more.shape },
    behaviours: [
      ...messages.map((text, index): Behaviour => ({
        name: `message ${index + 1}`,
        when: { toolChoice: 'none' },
        ...(index === messages.length - 1 ? {} : { times: 1 }),
        reply: { text },
        ...(index === 0 && more.faults !== undefined ? { faults: more.faults } : {}),
      })),
      beginCall({
        target_file: target,
        ...(more.operation === undefined ? {} : { operation: more.operation }),
        ...more.begin,
      }),
      LAST_WORD,
    ],
  };
}

export function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** `line 1` … `line n`, each with its line feed, from any first number. */
export function numbered(word: string, first: number, last: number, digits = 1): string {
  let text = '';
  for (let number = first; number <= last; number += 1)
    text += `${word} ${String(number).padStart(digits, '0')}\n`;
  return text;
}

/** A streamed reply whose events hold exactly these pieces of text. */
export function streamOf(pieces: readonly string[]): string {
  const event = (delta: object, finish: string | null): string =>
    `data: ${JSON.stringify({
      id: 'chatcmpl-pieces',
      object: 'chat.completion.chunk',
      created: 0,
      model: 'scripted',
      choices: [{ index: 0, delta, finish_reason: finish }],
    })}\n\n`;
  return `${pieces.map((content) => event({ content }, null)).join('')}${event({}, 'stop')}data: [DONE]\n\n`;
}

/** A model whose first message after begin consists of exactly these pieces. */
export function writePieces(
  target: string,
  pieces: readonly string[],
  begin: object = {},
): readonly Behaviour[] {
  return [
    {
      name: `pieces of ${target}`,
      when: { toolChoice: 'none', toolResult: { nth: -1, text: `complete content of ${target}` } },
      reply: { raw: { body: streamOf(pieces) } },
    },
    beginCall({ target_file: target, ...begin }),
  ];
}
