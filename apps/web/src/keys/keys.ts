/**
 * The keys of the page. The dialog is drawn from this table, and a key that is pressed is looked up in it.
 *
 * 1. No key approves, discards, or stops anything.
 * 2. A key is nobody's but the field's while somebody writes in one; Escape leaves it.
 * 3. Keys without Ctrl that type a character can be switched off, and then are the browser's.
 */
export type KeyCommand =
  | 'help'
  | 'next_row'
  | 'previous_row'
  | 'back'
  | 'find'
  | 'end'
  | 'next_approval'
  | { readonly to: string };

export type KeyRow = {
  /** As `KeyboardEvent.key` writes them; `g n` is one key after the other. */
  readonly keys: readonly string[];
  readonly does: string;
  /** Null where the element that has the focus answers the key. */
  readonly command: KeyCommand | null;
};

/** The views: where they are, what they are called, and the key that leads there behind `g`. */
export const VIEWS = [
  ['/', 'Now', 'n'],
  ['/c', 'Conversations', 'c'],
  ['/w', 'Writes', 'w'],
  ['/changes', 'Changes', 'h'],
  ['/t', 'Traces', 't'],
  ['/plan', 'Plan', 'p'],
] as const;

export const KEYS: readonly KeyRow[] = [
  { keys: ['?'], does: 'This list', command: 'help' },
  { keys: ['j'], does: 'The next row', command: 'next_row' },
  { keys: ['k'], does: 'The row before', command: 'previous_row' },
  { keys: ['Enter'], does: 'Open the row', command: null },
  { keys: ['Escape'], does: 'Leave a field, or go back to where you came from', command: 'back' },
  { keys: ['/', 'Ctrl+f'], does: 'Find; Ctrl+F again: with the browser', command: 'find' },
  { keys: ['End'], does: 'Follow the end of a write', command: 'end' },
  { keys: ['.'], does: 'The next approval', command: 'next_approval' },
  { keys: ['Ctrl+Enter'], does: 'Send the message', command: null },
  ...VIEWS.map(([to, name, key]) => ({ keys: [`g ${key}`], does: name, command: { to } })),
];

export type Press = {
  readonly key: string;
  readonly hasCtrl: boolean;
  readonly hasAlt: boolean;
  /** In a field. */
  readonly isTyping: boolean;
  /** Milliseconds. */
  readonly at: number;
};

/** The first key of two, and when it was pressed. */
export type Prefix = { readonly key: string; readonly at: number };

/** The second key of two counts for so long. */
const PREFIX_MS = 1500;

/** What a key asks for; `prefix` is what the next one has to be given. */
export function commandOf(
  { key, hasCtrl, hasAlt, isTyping, at }: Press,
  before: Prefix | null,
  hasLetters: boolean,
): { readonly command: KeyCommand | null; readonly prefix: Prefix | null } {
  const types = key.length === 1 && !hasCtrl;
  if (hasAlt || (isTyping && key !== 'Escape' && !hasCtrl) || (types && !hasLetters))
    return { command: null, prefix: null };
  const isSecond = before !== null && at - before.at <= PREFIX_MS;
  const name = hasCtrl ? `Ctrl+${key}` : isSecond ? `${before.key} ${key}` : key;
  const row = KEYS.find(({ keys }) => keys.includes(name));
  if (row !== undefined) return { command: row.command, prefix: null };
  const isPrefix =
    types && KEYS.some(({ keys }) => keys.some((each) => each.startsWith(`${key} `)));
  return { command: null, prefix: isPrefix ? { key, at } : null };
}
