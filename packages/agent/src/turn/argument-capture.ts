import { countLineFeeds, JsonReader } from '@orion/contracts';
import type { KeptArgument, ScratchFile, LlmAdapter, LlmEvent, Workspace } from '@orion/contracts';

import { wrapAdapter } from '../keys/wrapped-adapter.ts';

/** In any tool, arguments with these names are usually the content of a file. */
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

export type ArgumentCapture = {
  /** The adapter, of whose calls the text is kept while it arrives. */
  readonly adapter: LlmAdapter;
  /** Deletes the texts of a call that has succeeded. */
  discard(kept: readonly KeptArgument[]): Promise<void>;
};

/**
 * Keeps the text that a model sends as an argument although it should stream it (R258): the call may be cut off,
 * refused or unknown, and its text would be gone.
 *
 * 1. The events do not change, except that calls, and the error of a message that broke off within one, name the
 *    place of their text.
 * 2. Text is handed to the disk as it comes; nothing waits for it before the call is whole.
 * 3. Nothing that goes wrong with it reaches the turn.
 * 4. Arguments that are not JSON are kept whole, as they came: where a text in them ends could only be guessed.
 * 5. A text is identified by its path, not by ids: providers repeat them, and protocols replace them.
 */
export function captureArguments(
  adapter: LlmAdapter,
  workspace: Pick<Workspace, 'createScratchFile'>,
): ArgumentCapture {
  const files = new Map<string, ScratchFile>();

  async function* capturing(
    send: () => AsyncIterable<LlmEvent>,
  ): AsyncGenerator<LlmEvent, void, undefined> {
    const open = new Map<number, CallText>();
    try {
      for await (const event of send()) {
        switch (event.type) {
          case 'tool-call-start':
            open.set(event.index, new CallText(workspace, files));
            break;
          case 'tool-call-delta':
            open.get(event.index)?.push(event.argumentsDelta);
            break;
          case 'tool-call-end': {
            const text = open.get(event.index);
            open.delete(event.index);
            const kept = (await text?.finish()) ?? [];
            yield kept.length === 0 ? event : { ...event, call: { ...event.call, kept } };
            continue;
          }
          case 'error': {
            const places: string[] = [];
            for (const text of open.values()) places.push(...(await text.finish()).map(placeOf));
            open.clear();
            const message = [event.error.message, ...places].join('. ').replaceAll('.. ', '. ');
            yield places.length === 0 ? event : { ...event, error: { ...event.error, message } };
            continue;
          }
          default:
        }
        yield event;
      }
    } finally {
      for (const text of open.values()) await text.finish();
    }
  }

  return {
    adapter: wrapAdapter(adapter, capturing),
    async discard(kept) {
      for (const { path } of kept) {
        await files.get(path)?.discard();
        files.delete(path);
      }
    },
  };
}

function placeOf({ name, path, lines, raw }: KeptArgument): string {
  const what = raw === true ? 'arguments, exactly as they came,' : `"${name}" that came`;
  return lines === 1
    ? `The line of ${what} is kept in ${path}.`
    : `The ${lines} lines of ${what} are kept in ${path}.`;
}

type Text = { readonly name: string; file: ScratchFile | null; lines: number };

/** The texts of one call, each string in a file of its own; one file with all of it if it is not JSON. */
class CallText {
  readonly #workspace: Pick<Workspace, 'createScratchFile'>;
  /** Those of all calls, by their path. */
  readonly #files: Map<string, ScratchFile>;
  readonly #texts: Text[] = [];
  readonly #json: JsonReader = new JsonReader('object', {
    wants: (key) => CONTENT_NAMES.has(key),
    onStart: (name) => this.#texts.push({ name, file: null, lines: 1 }),
    onText: (text) => this.#add(this.#texts.at(-1), text),
  });
  /** All that came, as long as it may be JSON. */
  #came: string[] = [];
  #raw: Text | null = null;

  constructor(workspace: Pick<Workspace, 'createScratchFile'>, files: Map<string, ScratchFile>) {
    this.#workspace = workspace;
    this.#files = files;
  }

  push(fragment: string): void {
    if (this.#raw !== null) {
      this.#add(this.#raw, fragment);
      return;
    }
    this.#came.push(fragment);
    this.#json.push(fragment);
    if (this.#json.state !== 'malformed') return;
    this.#raw = { name: 'arguments', file: null, lines: 1 };
    this.#add(this.#raw, this.#came.join(''));
    this.#came = [];
  }

  async finish(): Promise<readonly KeptArgument[]> {
    const kept: KeptArgument[] = [];
    for (const text of this.#raw === null ? this.#texts : [this.#raw]) {
      const { name, file, lines } = text;
      const saved = (await file?.finish()) ?? null;
      if (file === null || saved === null) continue;
      const { path, bytes } = saved;
      this.#files.set(path, file);
      kept.push({ name, path, bytes, lines, ...(text === this.#raw && { raw: true }) });
    }
    if (this.#raw !== null) for (const { file } of this.#texts) await file?.discard();
    return kept;
  }

  #add(entry: Text | undefined, text: string): void {
    if (entry === undefined) return;
    entry.lines += countLineFeeds(text);
    entry.file ??= this.#workspace.createScratchFile();
    entry.file.append(text);
  }
}
