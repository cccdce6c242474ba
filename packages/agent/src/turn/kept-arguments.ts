import type { KeptArgument, KeptText, LlmAdapter, LlmEvent, Workspace } from '@orion/contracts';

import { StringArguments } from './string-arguments.ts';

/** Arguments under these names are, in whatever tool, mostly what a file is to hold. */
const CONTENT_NAMES: ReadonlySet<string> = new Set([
  'content',
  'contents',
  'raw_content',
  'content_block',
  'file_content',
  'file_text',
  'new_content',
  'text',
  'body',
  'data',
  'code',
]);

/** What is shorter is said again sooner than it is looked for. */
const SHORTEST_KEPT = 200;

export type KeptArguments = {
  /** The adapter, of whose calls the text is kept while it arrives. */
  readonly adapter: LlmAdapter;
  /** A call has done its work: what was kept of it need not be. */
  discard(kept: readonly KeptArgument[]): Promise<void>;
};

/**
 * Keeps the text that a model sends as an argument although it should stream it (R258): the call may be cut off,
 * refused or unknown, and its text would be gone.
 *
 * 1. The events stay what they are, but that the calls, and the error of a message that broke off within one, name
 *    where their text lies.
 * 2. Text is handed to the disk as it comes; nothing waits for it before the call is whole.
 * 3. Nothing that goes wrong with it reaches the turn.
 * 4. A text is known by its place. Ids tell nothing here: providers repeat them, and protocols give new ones.
 */
export function keepArguments(
  adapter: LlmAdapter,
  workspace: Pick<Workspace, 'keepText'>,
): KeptArguments {
  const files = new Map<string, KeptText>();

  async function* send(
    ...request: Parameters<LlmAdapter['sendMessagesStreaming']>
  ): AsyncGenerator<LlmEvent, void, undefined> {
    const open = new Map<number, CallText>();
    const keep = (): KeptText => workspace.keepText();
    const onKept = (path: string, file: KeptText): void => void files.set(path, file);
    try {
      for await (const event of adapter.sendMessagesStreaming(...request)) {
        switch (event.type) {
          case 'tool-call-start':
            open.set(event.index, new CallText(keep, onKept));
            break;
          case 'tool-call-delta':
            open.get(event.index)?.push(event.argumentsDelta);
            break;
          case 'tool-call-end': {
            const text = open.get(event.index);
            open.delete(event.index);
            const kept = (await text?.finish()) ?? [];
            if (kept.length === 0) break;
            yield { ...event, call: { ...event.call, kept } };
            continue;
          }
          case 'error': {
            const kept: KeptArgument[] = [];
            for (const text of open.values()) kept.push(...(await text.finish()));
            open.clear();
            if (kept.length === 0) break;
            const places = kept.map(
              ({ name, path, lines }) =>
                `The ${lines} lines of "${name}" that came are kept in ${path}.`,
            );
            const message = [event.error.message, ...places].join('. ').replaceAll('.. ', '. ');
            yield { ...event, error: { ...event.error, message } };
            continue;
          }
          case 'text-delta':
          case 'reasoning-delta':
          case 'usage':
          case 'finish':
            break;
          default:
            event satisfies never;
        }
        yield event;
      }
    } finally {
      for (const text of open.values()) await text.finish();
    }
  }

  return {
    adapter: {
      name: adapter.name,
      model: adapter.model,
      ...(adapter.limits === undefined ? {} : { limits: adapter.limits }),
      signalsMessageEnd: adapter.signalsMessageEnd,
      structuredOutput: adapter.structuredOutput,
      ...(adapter.writesThinkTags === undefined
        ? {}
        : { writesThinkTags: adapter.writesThinkTags }),
      sendMessagesStreaming: send,
    },
    async discard(kept) {
      for (const { path } of kept) {
        await files.get(path)?.discard();
        files.delete(path);
      }
    },
  };
}

type Text = {
  readonly name: string;
  file: KeptText | null;
  /** What came before there was enough to keep. */
  held: string;
  lines: number;
};

/** The texts of one call, each string in a file of its own. */
class CallText {
  readonly #texts: Text[] = [];
  readonly #keep: () => KeptText;
  readonly #onKept: (path: string, file: KeptText) => void;
  readonly #strings: StringArguments = new StringArguments({
    wants: (key) => CONTENT_NAMES.has(key),
    onStart: (name) => this.#texts.push({ name, file: null, held: '', lines: 0 }),
    onText: (text) => this.#add(text),
  });

  constructor(keep: () => KeptText, onKept: (path: string, file: KeptText) => void) {
    this.#keep = keep;
    this.#onKept = onKept;
  }

  push(fragment: string): void {
    this.#strings.push(fragment);
  }

  async finish(): Promise<readonly KeptArgument[]> {
    const kept: KeptArgument[] = [];
    for (const { name, file, lines } of this.#texts) {
      const found = file === null ? null : await file.finish();
      if (file === null || found === null) continue;
      this.#onKept(found.path, file);
      kept.push({ name, path: found.path, bytes: found.bytes, lines: lines + 1 });
    }
    return kept;
  }

  #add(text: string): void {
    const entry = this.#texts.at(-1);
    if (entry === undefined) return;
    entry.lines += text.split('\n').length - 1;
    if (entry.file === null) {
      entry.held += text;
      if (entry.held.length < SHORTEST_KEPT) return;
      entry.file = this.#keep();
      entry.file.append(entry.held);
      entry.held = '';
    } else {
      entry.file.append(text);
    }
  }
}
