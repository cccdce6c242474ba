import { matches } from './conditions.ts';
import { chooseContinuation, writeDocumentReply } from './continuation.ts';
import { createDocument, loadDocument } from './document.ts';
import type { ScriptedDocument } from './document.ts';
import { countPrompts, readDocumentPrompt } from './prompts.ts';
import type { DocumentPrompt } from './prompts.ts';
import type { WireName } from './requests/check.ts';
import type { ProviderRequest } from './requests/provider-request.ts';
import { invalidScript } from './script.ts';
import type { Behaviour, DocumentReply, Fault, Reply, Script, Shape } from './script.ts';
import type { PlannedReply } from './wire/stream-reply.ts';

/** A behaviour that matches a request, and what it needs for its reply. */
export type Chosen = {
  readonly behaviour: Behaviour;
  /** Its name, or its place in the script. */
  readonly name: string;
  readonly request: ProviderRequest;
  readonly prompt: DocumentPrompt | undefined;
  /** The beginning of the answer, if the request contains one. */
  readonly prefill: string;
};

export type Answer =
  | { readonly kind: 'status'; readonly fault: Fault }
  | { readonly kind: 'raw'; readonly raw: NonNullable<Reply['raw']> }
  | { readonly kind: 'stream'; readonly reply: PlannedReply };

/** Decides before the script does; undefined leaves the answer to the script. */
export type FreeModel = (request: ProviderRequest) => Behaviour | undefined;

const ID_PREFIXES: Readonly<Record<WireName, string>> = {
  chat: 'chatcmpl-',
  responses: 'resp_',
  messages: 'msg_',
};

/** Answers requests as a script says. Knows nothing of HTTP, and counts only what the script wants counted. */
export class ScriptedModel {
  readonly #script: Script;
  readonly #documents: ReadonlyMap<Behaviour, ScriptedDocument>;
  readonly #free: FreeModel | undefined;
  readonly #uses = new Map<object, number>();

  constructor(
    script: Script,
    documents: ReadonlyMap<Behaviour, ScriptedDocument>,
    free: FreeModel | undefined,
  ) {
    this.#script = script;
    this.#documents = documents;
    this.#free = free;
  }

  choose(asked: ProviderRequest): Chosen | undefined {
    const { request, prefill } = splitPrefill(asked);
    const fits = (behaviour: Behaviour, name: string, prompt?: DocumentPrompt): Chosen => ({
      behaviour,
      name,
      request,
      prompt,
      prefill,
    });
    const made = this.#free?.(request);
    if (made !== undefined) return fits(made, made.name ?? '-1');
    for (const [index, behaviour] of this.#script.behaviours.entries()) {
      if (!this.#isLeft(behaviour) || !matches(behaviour.when, request)) continue;
      const target = behaviour.reply.document?.target;
      const prompt =
        target === undefined ? undefined : readDocumentPrompt(request.messages, target);
      if (target === undefined || prompt !== undefined)
        return fits(behaviour, behaviour.name ?? String(index), prompt);
    }
    return undefined;
  }

  answer(wire: WireName, chosen: Chosen): Answer {
    const { behaviour, request } = chosen;
    const { reply } = behaviour;
    this.#use(behaviour);
    const number = replyNumber(request, behaviour);
    const fault = [...(behaviour.faults ?? []), ...(this.#script.faults ?? [])].find(
      (candidate) => faultApplies(candidate, number) && this.#isLeft(candidate),
    );
    if (fault !== undefined) this.#use(fault);
    if (fault?.kind === 'status') return { kind: 'status', fault };
    if (reply.raw !== undefined) return { kind: 'raw', raw: reply.raw };
    const turn = assistantMessages(request) + 1;
    const calls = (reply.toolCalls ?? []).map((call, index) => ({
      id: call.id ?? `call_${turn}_${index}`,
      name: call.name,
      arguments:
        typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments ?? {}),
    }));
    const shape = { ...this.#script.shape, ...behaviour.shape };
    const text = this.#text(chosen);
    return {
      kind: 'stream',
      reply: {
        wire,
        facts: {
          id: `${ID_PREFIXES[wire]}scripted-${turn}`,
          model: request.model,
          promptTokens: tokensOf(request.messages.map((message) => message.text)),
          completionTokens: tokensOf([text, ...calls.map((call) => call.arguments)]),
          wantsUsage: request.wantsUsage && shape.usage !== false,
          changingIds: shape.changingIds === true,
          endMark: shape.endMark ?? 'both',
        },
        text,
        calls,
        finishReason: reply.finishReason ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
        shape,
        fault: fault ?? tokenLimit(request, shape),
      },
    };
  }

  #text({ behaviour, request, prompt, prefill }: Chosen): string {
    const { text: fixed = '', document: reply } = behaviour.reply;
    const document = this.#documents.get(behaviour);
    if (reply === undefined || prompt === undefined || document === undefined) return fixed;
    const continuation = chooseContinuation(
      reply.continuations,
      prompt.kind === 'continue' ? this.#ordinal(reply, request) : 1,
    );
    const text = writeDocumentReply(document, reply, prompt, continuation);
    // The prefilled beginning is not repeated.
    return text.startsWith(prefill) ? text.slice(prefill.length) : text;
  }

  #ordinal(reply: DocumentReply, request: ProviderRequest): number {
    return reply.countBy === 'process'
      ? this.#use(reply)
      : countPrompts(request.messages, reply.target);
  }

  #isLeft(limited: Behaviour | Fault): boolean {
    return (this.#uses.get(limited) ?? 0) < (limited.times ?? Number.POSITIVE_INFINITY);
  }

  #use(counted: object): number {
    const count = (this.#uses.get(counted) ?? 0) + 1;
    this.#uses.set(counted, count);
    return count;
  }
}

/** Separates a prefilled answer from the rest of the request. */
function splitPrefill(request: ProviderRequest): {
  readonly request: ProviderRequest;
  readonly prefill: string;
} {
  const last = request.messages.at(-1);
  if (last?.role !== 'assistant' || last.text === '') return { request, prefill: '' };
  return { request: { ...request, messages: request.messages.slice(0, -1) }, prefill: last.text };
}

export async function loadDocuments(
  script: Script,
  readDocument: ((path: string) => Promise<string>) | undefined,
): Promise<ReadonlyMap<Behaviour, ScriptedDocument>> {
  const documents = new Map<Behaviour, ScriptedDocument>();
  for (const [index, behaviour] of script.behaviours.entries()) {
    const content = behaviour.reply.document?.content;
    if (content === undefined) continue;
    const place = `behaviours[${index}].reply.document.content`;
    const read = readDocument ?? (() => Promise.reject(new Error('files cannot be read here')));
    try {
      documents.set(behaviour, createDocument(await loadDocument(content, read)));
    } catch (error) {
      throw invalidScript(
        `${place}: ${error instanceof Error ? error.message : String(error)}`,
        error,
      );
    }
  }
  return documents;
}

function assistantMessages(request: ProviderRequest): number {
  return request.messages.filter((message) => message.role === 'assistant').length;
}

/**
 * The number of this reply, counted from the request. For a document: 1 for the message after begin, 2 for the reply to
 * the first prompt of its session, and so on. Otherwise: the number of assistant messages plus one.
 */
function replyNumber(request: ProviderRequest, behaviour: Behaviour): number {
  const target = behaviour.reply.document?.target;
  return (
    1 + (target === undefined ? assistantMessages(request) : countPrompts(request.messages, target))
  );
}

function faultApplies(fault: Fault, number: number): boolean {
  if (fault.reply === undefined) return true;
  return typeof fault.reply === 'number' ? fault.reply === number : fault.reply.includes(number);
}

/** Four characters per token, the usual rule of thumb. */
function tokensOf(texts: readonly string[]): number {
  return Math.ceil(texts.reduce((sum, text) => sum + text.length, 0) / 4);
}

function tokenLimit(request: ProviderRequest, shape: Shape): Fault | undefined {
  const limit = request.maxTokens;
  if (shape.honourMaxTokens !== true || limit === undefined) return undefined;
  return { kind: 'length', at: { characters: limit * 4 } };
}
