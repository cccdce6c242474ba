import type { FaceChoice, FaceInput, FaceQuestion } from '../face.ts';
import { sanitizeLine } from '../../terminal/sanitize.ts';
import { createLineEditor, isKey, type LineEditor } from './line-editor.ts';
import { createPicker, type Picker } from './picker.ts';
import { questionRows, typedRows, type TypedRows } from './region-rows.ts';

type Choice = Extract<FaceQuestion, { kind: 'choice' }>;

/** What the person is asked, and how far that is. */
type State =
  | { readonly kind: 'nothing' }
  /** Not shown yet. */
  | { readonly kind: 'soon'; readonly id: number }
  | { readonly kind: 'choice'; readonly question: Choice }
  | {
      readonly kind: 'reason';
      readonly question: Choice;
      readonly choice: FaceChoice;
      readonly editor: LineEditor;
    }
  | { readonly kind: 'pick'; readonly id: number; readonly picker: Picker };

export type Asking = {
  /** What the view asks now. */
  follow(question: FaceQuestion | null): void;
  /** Whether keys answer. */
  takesKeys(): boolean;
  handle(key: string): void;
  paste(text: string): void;
  /** Null while nothing is shown. */
  render(columns: number): AskedRows | null;
};

export type AskedRows = {
  readonly asked: readonly string[];
  readonly typed: TypedRows | null;
  readonly menu: readonly string[];
};

export type AskingOptions = {
  readonly colors: boolean;
  readonly columns: () => number;
  /** Settles when the terminal has everything and nothing is being typed. */
  readonly quiet: () => Promise<void>;
  /** Draws, and settles when the terminal has it. */
  readonly drawn: () => Promise<void>;
  /** Puts lines into the transcript. */
  readonly print: (lines: readonly string[]) => void;
  readonly answer: (answer: Extract<FaceInput, { type: 'answered' }>) => void;
};

/** A question that needs more rows is asked in the transcript, and answered in the region. */
const MAX_ROWS = 5;

export function createAsking(options: AskingOptions): Asking {
  const { colors, columns, quiet, drawn, print, answer } = options;
  let state: State = { kind: 'nothing' };
  /** Of the question whose last frame the terminal has: only that one takes keys. */
  let shownId: number | null = null;
  /** The view may still have it. */
  let answeredId: number | null = null;

  async function ask(question: FaceQuestion): Promise<void> {
    state = { kind: 'soon', id: question.id };
    await quiet();
    if (!isAbout(state, question.id)) return;
    state = question.kind === 'pick' ? picking(question) : choosing(question);
    await drawn();
    if (isAbout(state, question.id)) shownId = question.id;
  }

  function choosing(question: Choice): State {
    const rows = questionRows(question.text, question.choices, columns());
    if (rows.length > MAX_ROWS) print(question.text.split('\n'));
    return { kind: 'choice', question };
  }

  function picking({ id, text, items }: Extract<FaceQuestion, { kind: 'pick' }>): State {
    const onPicked = (value: string | null): void => finish(id, value, '');
    return { kind: 'pick', id, picker: createPicker({ title: text, items, colors, onPicked }) };
  }

  function finish(id: number, value: string | null, text: string): void {
    state = { kind: 'nothing' };
    shownId = null;
    answeredId = id;
    answer({ type: 'answered', id, value, text });
  }

  function choose(question: Choice, key: string): void {
    const wanted = isKey(key, 'enter') ? question.preset : key.toLowerCase();
    if (isKey(key, 'escape')) {
      finish(question.id, null, '');
      return;
    }
    const choice = question.choices.find((each) => each.key.toLowerCase() === wanted);
    if (choice === undefined) return;
    if (choice.asksFor === null) {
      finish(question.id, choice.key, '');
    } else {
      const editor = createLineEditor({ complete: null, colors, changed: () => undefined });
      state = { kind: 'reason', question, choice, editor };
    }
  }

  function explain({ question, choice, editor }: State & { kind: 'reason' }, key: string): void {
    if (isKey(key, 'escape')) state = choosing(question);
    else if (isKey(key, 'enter')) finish(question.id, choice.key, editor.text());
    else editor.handle(key);
  }

  return {
    follow(question) {
      if (question === null) {
        state = { kind: 'nothing' };
        shownId = null;
      } else if (question.id !== answeredId && !isAbout(state, question.id)) {
        shownId = null;
        void ask(question);
      }
    },
    takesKeys: () => shownId !== null,
    handle(key) {
      if (state.kind === 'choice') choose(state.question, key);
      else if (state.kind === 'reason') explain(state, key);
      else if (state.kind === 'pick') state.picker.handle(key);
    },
    paste(text) {
      if (state.kind === 'reason') state.editor.paste(text);
      else if (state.kind === 'pick') state.picker.paste(text);
    },
    render(width) {
      switch (state.kind) {
        case 'nothing':
        case 'soon':
          return null;
        case 'choice':
          return { asked: choiceRows(state.question, width), typed: null, menu: [] };
        case 'reason': {
          const sign = `${sanitizeLine(state.choice.asksFor ?? '')}: `;
          const typed = typedRows(sign, state.editor.render(Math.max(10, width - sign.length)));
          return { asked: choiceRows({ ...state.question, choices: [] }, width), typed, menu: [] };
        }
        case 'pick':
          return state.picker.render(width);
        default:
          return state satisfies never;
      }
    },
  };
}

function choiceRows({ text, choices }: Choice, columns: number): readonly string[] {
  const rows = questionRows(text, choices, columns);
  return rows.length > MAX_ROWS ? questionRows('The question is above.', choices, columns) : rows;
}

function isAbout(state: State, id: number): boolean {
  if (state.kind === 'nothing') return false;
  return ('id' in state ? state.id : state.question.id) === id;
}
