import { startScriptedProvider } from '@orion/llm-adapters/scripted';
import type { Behaviour, ProviderRequest, ScriptedProvider } from '@orion/llm-adapters/scripted';

import { falseAnswerTo, GOOD, replyTo } from './answers.ts';
import type { Answer, Dress } from './answers.ts';
import type { Document } from './documents.ts';
import type { First, FirstMessage } from './firsts.ts';
import { markerOf } from './prompts.ts';
import type { Asked } from './prompts.ts';

/** A model: what it has in mind, how it begins, and how it answers. */
export type Manners = {
  readonly document: Document;
  readonly first: First;
  readonly answer: Answer;
  readonly dress: Dress;
};

export type Exchange = { readonly prompt: string; readonly reply: string };

/** A model at work, as the provider knows it by its name. */
export type Model = {
  readonly name: string;
  readonly manners: Manners;
  /** What it was asked for the file, and what it said. */
  readonly exchanges: readonly Exchange[];
  /** Its first message; empty before it was asked for one. */
  readonly sent: string;
  /** Where it chose an answer that was not the right one. */
  readonly falseAnswers: ReadonlySet<Asked['kind']>;
  /** From now on it answers as a good model does: a person has taken a better one. */
  improve(): void;
};

export type Models = {
  readonly url: string;
  add(manners: Manners): Model;
  remove(model: Model): void;
  close(): Promise<void>;
};

const INTENT = 'a file of the campaign';
/** Characters of an event: lines and markers come in parts. */
const CHUNK = 7;

/** One provider on loopback for every model of a campaign; a request names the one that it is for. */
export async function startModels(): Promise<Models> {
  const models = new Map<string, RunningModel>();
  const provider: ScriptedProvider = await startScriptedProvider(
    { behaviours: [{ reply: { text: 'There is no such model.' } }] },
    { model: (request) => models.get(request.model)?.answer(request) },
  );
  let count = 0;
  return {
    url: provider.url,
    add: (manners) => {
      count += 1;
      const model = createModel(`model-${count}`, manners);
      models.set(model.name, model);
      return model;
    },
    remove: ({ name }) => void models.delete(name),
    close: () => provider.close(),
  };
}

type RunningModel = Model & { answer(request: ProviderRequest): Behaviour };

function createModel(name: string, manners: Manners): RunningModel {
  const { document, first } = manners;
  const exchanges: Exchange[] = [];
  const falseAnswers = new Set<Asked['kind']>();
  let { answer, dress } = manners;
  let sent: FirstMessage | null = null;

  function write(prompt: string): Behaviour {
    if (sent === null) {
      sent = first.write(document, markerOf(prompt));
      exchanges.push({ prompt, reply: sent.text });
      return saying(sent.text, sent.cut ? 'length' : 'stop');
    }
    const speaker = { document, sent, answer, dress };
    const reply = replyTo(prompt, speaker);
    const chosen = falseAnswerTo(prompt, speaker);
    if (chosen !== null) falseAnswers.add(chosen);
    exchanges.push({ prompt, reply: reply.text });
    return saying(reply.text, reply.cut ? 'length' : 'stop');
  }

  return {
    name,
    manners,
    exchanges,
    falseAnswers,
    get sent(): string {
      return sent?.text ?? '';
    },
    improve: () => {
      ({ answer, dress } = GOOD);
    },
    answer: ({ toolChoice, messages }) => {
      if (toolChoice === 'none') return write(messages.at(-1)?.text ?? '');
      if (messages.some(({ role }) => role === 'tool')) return saying('All written.', 'stop');
      const begin = { intent: INTENT, target_file: document.target, operation: 'create' };
      return { reply: { toolCalls: [{ name: 'WritePlanTool_begin', arguments: begin }] } };
    },
  };
}

function saying(text: string, finishReason: string): Behaviour {
  return { reply: { text, finishReason }, shape: { chunk: CHUNK } };
}
