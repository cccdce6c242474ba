/**
 * Patterns of ignore files, as in git's `wildmatch`, matched without backtracking.
 *
 * G1. Matching works on bytes: `?` matches one byte, as in git. Texts are byte strings (`latin1`).
 * G2. The cost is at most the length of the pattern times the length of the text, for any input: all possible positions
 *     in the pattern are followed at the same time.
 */
type Token =
  | { readonly kind: 'byte'; readonly byte: number }
  | { readonly kind: 'set'; readonly set: ByteSet }
  /** Any number of bytes, including none, but no slash unless it `crosses`. */
  | { readonly kind: 'star'; readonly crosses: boolean }
  /** The star and the slash after it may match nothing. */
  | { readonly kind: 'optional' };

/** Null if an escape or set is incomplete: such a pattern matches nothing. */
export type Glob = readonly Token[] | null;

/** One bit for each byte, in sixteen numbers: a short pattern can name thousands of sets. */
type ByteSet = readonly number[];

const ALL_BITS = 0xff_ff;
const SLASH = 0x2f;

const ANY_BYTE: Token = { kind: 'set', set: emptySet().fill(ALL_BITS) };
const ANY_BUT_SLASH: Token = { kind: 'set', set: withoutSlash(emptySet().fill(ALL_BITS)) };
const STAR: Token = { kind: 'star', crosses: false };
const CROSSING: Token = { kind: 'star', crosses: true };
const OPTIONAL: Token = { kind: 'optional' };

/** `isPath`: only `**` matches a slash; `*`, `?` and sets do not. */
export function parseGlob(pattern: string, isPath: boolean): Glob {
  const tokens: Token[] = [];
  let at = 0;
  while (at < pattern.length) {
    const character = pattern[at];
    if (character === '*') {
      let end = at;
      while (pattern[end] === '*') end += 1;
      tokens.push(...starsOf(pattern, at, end, isPath));
      at = end;
    } else if (character === '[') {
      const set = parseSet(pattern, at, isPath);
      if (set === null) return null;
      tokens.push({ kind: 'set', set: set.members });
      at = set.end;
    } else if (character === '?') {
      tokens.push(isPath ? ANY_BUT_SLASH : ANY_BYTE);
      at += 1;
    } else {
      if (character === '\\') at += 1;
      if (at === pattern.length) return null;
      tokens.push({ kind: 'byte', byte: pattern.charCodeAt(at) });
      at += 1;
    }
  }
  return tokens;
}

/** A run of stars. */
function starsOf(pattern: string, start: number, end: number, isPath: boolean): readonly Token[] {
  if (!isPath) return [CROSSING];
  const isWhole = end - start > 1 && (start === 0 || pattern[start - 1] === '/');
  if (isWhole && pattern[end] === '/') return [OPTIONAL, CROSSING];
  const isLast = end === pattern.length || pattern.startsWith('\\/', end);
  return isWhole && isLast ? [CROSSING] : [STAR];
}

const CLASSES: ReadonlyMap<string, ByteSet> = new Map(
  Object.entries({
    alnum: /[0-9A-Za-z]/u,
    alpha: /[A-Za-z]/u,
    blank: /[ \t]/u,
    // oxlint-disable-next-line no-control-regex -- the class is theirs
    cntrl: /[\u0000-\u001f\u007f]/u,
    digit: /[0-9]/u,
    graph: /[!-~]/u,
    lower: /[a-z]/u,
    print: /[ -~]/u,
    punct: /[!-/:-@[-`{-~]/u,
    space: /[ \t-\r]/u,
    upper: /[A-Z]/u,
    xdigit: /[0-9A-Fa-f]/u,
  }).map(([name, members]) => [name, setOf(members)]),
);

function emptySet(): number[] {
  return [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
}

function addTo(set: number[], byte: number): void {
  set[byte >> 4] = (set[byte >> 4] ?? 0) | (1 << (byte & 15));
}

function withoutSlash(set: number[]): number[] {
  set[SLASH >> 4] = (set[SLASH >> 4] ?? 0) & ~(1 << (SLASH & 15));
  return set;
}

/** The ASCII characters that match. */
function setOf(members: RegExp): ByteSet {
  const set = emptySet();
  for (let byte = 0; byte < 0x80; byte += 1) {
    if (members.test(String.fromCharCode(byte))) addTo(set, byte);
  }
  return set;
}

/** Parses the set at this bracket. Null if it is incomplete or names an unknown class. */
function parseSet(
  pattern: string,
  start: number,
  isPath: boolean,
): { readonly members: ByteSet; readonly end: number } | null {
  const members = emptySet();
  let at = start + 1;
  const isNegated = pattern[at] === '!' || pattern[at] === '^';
  if (isNegated) at += 1;
  /** The start of a range if a `-` follows; 0 if there is none. */
  let previous = 0;
  const add = (byte: number): void => {
    addTo(members, byte);
    previous = byte;
  };
  do {
    if (at >= pattern.length) return null;
    const character = pattern[at];
    const next = pattern[at + 1];
    if (character === '\\') {
      at += 1;
      add(pattern.charCodeAt(at));
    } else if (character === '-' && previous !== 0 && next !== undefined && next !== ']') {
      at += next === '\\' ? 2 : 1;
      for (let byte = previous; byte <= pattern.charCodeAt(at); byte += 1) addTo(members, byte);
      previous = 0;
    } else if (character === '[' && next === ':') {
      const close = pattern.indexOf(']', at + 2);
      if (close === -1) return null;
      // The closing colon must not be the opening one.
      if (close - 1 >= at + 2 && pattern[close - 1] === ':') {
        const named = CLASSES.get(pattern.slice(at + 2, close - 1));
        if (named === undefined) return null;
        for (const [word, bits] of named.entries()) members[word] = (members[word] ?? 0) | bits;
        previous = 0;
        at = close;
      } else {
        add(pattern.charCodeAt(at));
      }
    } else {
      add(pattern.charCodeAt(at));
    }
    at += 1;
  } while (pattern[at] !== ']');
  const set = isNegated ? members.map((bits) => bits ^ ALL_BITS) : members;
  return { members: isPath ? withoutSlash(set) : set, end: at + 1 };
}

/** The remaining cost of matching, in pattern positions examined. */
export type Budget = { left: number };

/** Also false when the budget is exhausted. */
export function matchesGlob(glob: Glob, text: string, budget: Budget): boolean {
  if (glob === null) return false;
  let places = new Uint8Array(glob.length + 1);
  let next = new Uint8Array(glob.length + 1);
  places[0] = 1;
  let any = true;
  spread(glob, places);
  for (let at = 0; at < text.length && any; at += 1) {
    budget.left -= glob.length + 1;
    if (budget.left < 0) return false;
    const byte = text.charCodeAt(at);
    next.fill(0);
    any = false;
    for (let place = 0; place < glob.length; place += 1) {
      const token = glob[place];
      if (places[place] === 0 || token === undefined) continue;
      const to = stepOf(token, place, byte);
      if (to === null) continue;
      next[to] = 1;
      any = true;
    }
    spread(glob, next);
    [places, next] = [next, places];
  }
  return any && places[glob.length] === 1;
}

/** The position after this byte, or null if it does not match. */
function stepOf(token: Token, place: number, byte: number): number | null {
  switch (token.kind) {
    case 'byte':
      return token.byte === byte ? place + 1 : null;
    case 'set':
      return ((token.set[byte >> 4] ?? 0) >> (byte & 15)) & 1 ? place + 1 : null;
    case 'star':
      return token.crosses || byte !== SLASH ? place : null;
    case 'optional':
      return null;
    default:
      return token satisfies never;
  }
}

/** Adds positions that are reached without consuming a byte. */
function spread(glob: readonly Token[], places: Uint8Array): void {
  for (let place = 0; place < glob.length; place += 1) {
    if (places[place] === 0) continue;
    const kind = glob[place]?.kind;
    if (kind === 'star' || kind === 'optional') places[place + 1] = 1;
    if (kind === 'optional') places[place + 3] = 1;
  }
}
