import { countLineFeeds, cutText, JsonReader } from '@orion/contracts';
import type { KeptArgument, ScratchFile, Workspace } from '@orion/contracts';
import { keptPlace, textDigest } from '@orion/protocols';

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

/** What holds the arguments of an action; some models send them as JSON in a string. */
const ARGUMENT_NAMES: ReadonlySet<string> = new Set([
  'args',
  'tool_args',
  'arguments',
  'tool_input',
]);

/** `call`: the name of the tool; null for an action that a model wrote as JSON. */
export type KeptText = KeptArgument & { readonly call: string | null };

const SHOWN_NAME = 100;

type Files = Pick<Workspace, 'createScratchFile'>;

/**
 * The texts of one turn that its models sent in calls and actions (R258).
 *
 * 1. A text is untold until it is discarded, because its call ran with all of it or it was shown, until its place is in
 *    a result, or until somebody takes it to tell of it. Whoever runs the turn does so before the next message and at
 *    the end.
 * 2. A text is identified by its path, not by ids: providers repeat them, and protocols replace them.
 */
export class KeptTexts {
  readonly #workspace: Files;
  readonly #files = new Map<string, ScratchFile>();
  readonly #open = new Set<CallText>();
  readonly #untold = new Map<string, KeptText>();

  constructor(workspace: Files) {
    this.#workspace = workspace;
  }

  /** For the arguments of this call, or for an action if it is null. */
  open(call: string | null): CallText {
    const text: CallText = new CallText(this.#workspace, call === null, (kept, file) => {
      this.#files.set(kept.path, file);
      this.#untold.set(kept.path, { ...kept, call });
    });
    for (const other of this.#open) if (other.isFinished) this.#open.delete(other);
    this.#open.add(text);
    return text;
  }

  /** Deletes the texts of a call that has succeeded. */
  async discard(kept: readonly KeptArgument[]): Promise<void> {
    this.told(kept);
    for (const { path } of kept) {
      await this.#files.get(path)?.discard();
      this.#files.delete(path);
    }
  }

  /** Deletes the text of an action that was the answer itself, which has been shown. */
  async discardAnswer(shown: string): Promise<void> {
    const ofActions = [...this.#untold.values()].filter(({ call }) => call === null);
    if (ofActions.length === 0) return;
    const digest = textDigest(shown);
    await this.discard(ofActions.filter((text) => text.digest === digest));
  }

  /** The model and the person have read where these are. */
  told(kept: readonly KeptArgument[]): void {
    for (const { path } of kept) this.#untold.delete(path);
  }

  /** Those of which nobody knows yet; the caller tells. Between two messages only: it ends texts that are arriving. */
  async takeUntold(): Promise<readonly KeptText[]> {
    for (const text of this.#open) await text.finish();
    this.#open.clear();
    const untold = [...this.#untold.values()];
    this.told(untold);
    return untold;
  }
}

/** Where a text is whose call came to nothing, or that an action was carried out without. */
export function keptNotice(text: KeptText): string {
  const what =
    text.call === null
      ? "A text in the model's action was not used."
      : `The call of ${cutText(text.call, SHOWN_NAME)} was not carried out.`;
  return `${what} ${keptPlace(text)}`;
}

type Text = {
  readonly name: string;
  file: ScratchFile | null;
  lines: number;
  /** Of an action only, for its digest. */
  text: string;
};

/**
 * The texts of one call, each string in a file of its own. One file with all of it if it is not JSON: where a text in
 * that ends could only be guessed. An action may have prose or a code fence around it.
 */
export class CallText {
  readonly #workspace: Files;
  readonly #isAction: boolean;
  readonly #onKept: (kept: KeptArgument, file: ScratchFile) => void;
  readonly #texts: Text[] = [];
  readonly #json: JsonReader;
  /** All that came, as long as it may be JSON. */
  #came: string[] = [];
  #raw: Text | null = null;
  /** Nothing of what still comes is kept. */
  #isOver = false;
  #finished: Promise<readonly KeptArgument[]> | null = null;

  constructor(
    workspace: Files,
    isAction: boolean,
    onKept: (kept: KeptArgument, file: ScratchFile) => void,
  ) {
    this.#workspace = workspace;
    this.#isAction = isAction;
    this.#onKept = onKept;
    this.#json = this.#reader(isAction ? ARGUMENT_NAMES : new Set());
  }

  get isFinished(): boolean {
    return this.#finished !== null;
  }

  push(fragment: string): void {
    if (this.#isOver || this.#finished !== null) return;
    if (this.#raw !== null) {
      this.#add(this.#raw, fragment);
      return;
    }
    const isInProse = this.#isAction && this.#came.length === 0;
    const text = isInProse ? fragment.replace(/^[^{]*/, '') : fragment;
    if (text === '') return;
    this.#came.push(text);
    this.#json.push(text);
    if (this.#json.state !== 'malformed') return;
    const came = this.#came.join('');
    this.#came = [];
    if (this.#isAction && !isBroken(came, this.#json.errorPosition ?? 0)) {
      this.#isOver = true;
      return;
    }
    this.#raw = { name: 'arguments', file: null, lines: 1, text: '' };
    this.#add(this.#raw, came);
  }

  /** Ends them, once; what comes later is left out. */
  finish(): Promise<readonly KeptArgument[]> {
    return (this.#finished ??= this.#finish());
  }

  async #finish(): Promise<readonly KeptArgument[]> {
    const kept: KeptArgument[] = [];
    for (const text of this.#raw === null ? this.#texts : [this.#raw]) {
      const { name, file, lines } = text;
      const saved = (await file?.finish()) ?? null;
      if (file === null || saved === null) continue;
      const { path, bytes } = saved;
      const one = {
        name,
        path,
        bytes,
        lines,
        ...(text === this.#raw && { raw: true as const }),
        ...(this.#isAction && { digest: textDigest(text.text) }),
      };
      this.#onKept(one, file);
      kept.push(one);
    }
    if (this.#raw !== null) for (const { file } of this.#texts) await file?.discard();
    return kept;
  }

  /** `containers`: names whose string is JSON itself. */
  #reader(containers: ReadonlySet<string>): JsonReader {
    let inner: JsonReader | null = null;
    return new JsonReader('object', {
      wants: (key) => CONTENT_NAMES.has(key) || containers.has(key),
      onStart: (name) => {
        inner = containers.has(name) ? this.#reader(new Set()) : null;
        if (inner === null) this.#texts.push({ name, file: null, lines: 1, text: '' });
      },
      onText: (text) => {
        if (inner === null) this.#add(this.#texts.at(-1), text);
        else inner.push(text);
      },
    });
  }

  #add(entry: Text | undefined, text: string): void {
    if (entry === undefined) return;
    entry.lines += countLineFeeds(text);
    if (this.#isAction) entry.text += text;
    entry.file ??= this.#workspace.createScratchFile();
    entry.file.append(text);
  }
}

/** Whether it is an object that went wrong, not prose with a brace in it, and not whole with something behind it. */
function isBroken(came: string, errorPosition: number): boolean {
  if (!/^\{\s*"/.test(came)) return false;
  const upTo = new JsonReader('object');
  upTo.push(came.slice(0, errorPosition));
  return upTo.state !== 'complete';
}
