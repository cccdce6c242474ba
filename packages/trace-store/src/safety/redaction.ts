import { REDACTED } from '@orion/contracts';
import type { JsonObject, JsonValue, Redact } from '@orion/contracts';

/**
 * Removes secrets and home directories from what is stored (R229).
 *
 * 1. Any value under a key that names a secret is replaced as a whole.
 * 2. In every text, keys included, anything that looks like a secret is replaced. Within a sentence it needs a minimum
 *    length, so that `Basic usage` stays readable; a text that is nothing but a credential does not.
 * 3. Before that, the keys in use are replaced wherever their exact text occurs: a pattern might match only part of one.
 * 4. Takes JSON and returns JSON: it runs after `toSafeJson`, so that nothing can hide behind a getter.
 */
/** Matched against a key in lower case without separators; counts of tokens are not secrets. */
const SECRET_KEY =
  /(?:authorization|apikey|accesskey|secretkey|privatekey|signingkey|encryptionkey|secret|token|password|passwd|passphrase|passcode|credentials?|cookie|bearer)$|^(?:pwd|pass|auth|jwt)$/;

export function isSecretKey(key: string): boolean {
  return SECRET_KEY.test(key.replaceAll(/[^a-zA-Z0-9]/g, '').toLowerCase());
}

// The lookbehind and the limit keep the search linear on long runs of name characters.
const SECRET_NAME =
  '(?<![A-Za-z0-9_.-])[A-Za-z0-9_.-]{0,64}(?:api[_-]?key|access[_-]?key|secret|token|password|passwd|signature|credential)';
/** How such a name can end, for hints. */
const NAME_END = 'key|secret|token|passwd|password|signature|credential';

/** Well-known prefixes of keys, grouped by the character that ends them. */
const PAYMENT_KEY = '(?:sk|rk|pk)_(?:live|test)|whsec';
const BEFORE_UNDERSCORE = 'gh[pousr]|github_pat|npm|hf|gsk|r8|dop_v1|shp(?:at|ss)|dckr_pat';
const BEFORE_DASH = 'glpat|xox[a-z]|xapp|pypi|xai|AGE-SECRET-KEY';
const MARKED = `(?:${BEFORE_UNDERSCORE})_|(?:${BEFORE_DASH})-`;
const PREFIX = `(?:sk|rk|pk)-|(?:${PAYMENT_KEY})_|${MARKED}|AIza|SG\\.`;

/**
 * `hint` occurs in every text that `pattern` matches and is much cheaper to search for: most texts contain no secret.
 * Where possible it begins with a character that is rare in ordinary text and looks behind from there.
 */
type Rule = {
  readonly hint: RegExp;
  readonly pattern: RegExp;
  /** `[REDACTED]` when left out. */
  readonly replacement?: string | Replace;
};
type Replace = (whole: string, first: string, second: string) => string;

export const RULES: readonly Rule[] = [
  {
    hint: /-----BEGIN /,
    pattern: /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  },
  {
    hint: /bearer\s/i,
    pattern: /\b(Bearer)\s+[A-Za-z0-9._~+/=-]{4,}/gi,
    replacement: `$1 ${REDACTED}`,
  },
  // Any word could follow this one, but few are an encoded name and password
  {
    hint: /basic\s/i,
    pattern: /\b(Basic)\s+([A-Za-z0-9+/_-]{4,}={0,2})/gi,
    replacement: (whole, scheme, word) =>
      isNameAndPassword(word) ? `${scheme} ${REDACTED}` : whole,
  },
  // A JSON value within a text, as in a tool's arguments: a value that is only a credential needs no minimum length
  {
    hint: new RegExp(`"(?:bearer\\s|${PREFIX})`, 'i'),
    pattern: new RegExp(`"(?:bearer\\s+|${PREFIX})[^\\s"\\\\]+(?=\\\\?")`, 'gi'),
    replacement: `"${REDACTED}`,
  },
  { hint: /(?<=[srp]k)-/, pattern: /\b(?:sk|rk|pk)-[A-Za-z0-9_-]{8,}/g },
  {
    hint: new RegExp(`(?<=${PAYMENT_KEY})_`),
    pattern: new RegExp(`\\b(?:${PAYMENT_KEY})_[A-Za-z0-9+/=]{8,}`, 'g'),
  },
  {
    hint: new RegExp(`(?<=${BEFORE_UNDERSCORE})_|(?<=${BEFORE_DASH})-`),
    pattern: new RegExp(`\\b(?:${MARKED})[A-Za-z0-9_-]{8,}`, 'g'),
  },
  { hint: /AKIA|ASIA/, pattern: /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g },
  { hint: /AIza/, pattern: /\bAIza[A-Za-z0-9_-]{30,}/g },
  { hint: /(?<=SG)\./, pattern: /\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}/g },
  {
    hint: /hooks\.slack\.com/,
    pattern: /(hooks\.slack\.com\/(?:services|workflows)\/)[A-Za-z0-9/_-]+/g,
    replacement: `$1${REDACTED}`,
  },
  // A number and 35 characters, as Telegram bots have them
  { hint: /:AA/, pattern: /\b\d{6,12}:AA[A-Za-z0-9_-]{30,}/g },
  { hint: /eyJ/, pattern: /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)?/g },
  // user:password@ in a URL
  {
    hint: /:\/\//,
    pattern: /(:\/\/)[^\s/?#@:]*:[^\s/?#@]+@/g,
    replacement: `$1${REDACTED}@`,
  },
  // ?key=value in a URL
  {
    hint: new RegExp(`(?<=${NAME_END}|sig|auth|code|pass)=`, 'i'),
    pattern: new RegExp(`([?&;](?:${SECRET_NAME}|key|sig|auth|code|pass)=)[^&\\s#"']+`, 'gi'),
    replacement: `$1${REDACTED}`,
  },
  // NAME=value and NAME="value", as in an environment
  {
    hint: new RegExp(`(?<=${NAME_END})=`, 'i'),
    pattern: new RegExp(
      `(${SECRET_NAME}=)(?!\\[REDACTED)(?:\\\\?"[^"\\r\\n]*|'[^'\\r\\n]*|[^\\s&"']+)`,
      'gi',
    ),
    replacement: `$1${REDACTED}`,
  },
  // "name": "value", JSON inside a text, and the same with its quotes escaped
  {
    hint: new RegExp(`(?<=${NAME_END}|authorization|cookie)"`, 'i'),
    pattern: new RegExp(
      `("(?:${SECRET_NAME}|authorization|cookie)"\\s*:\\s*")(?:[^"\\\\]|\\\\.)*`,
      'gis',
    ),
    replacement: `$1${REDACTED}`,
  },
  {
    hint: new RegExp(`(?<=${NAME_END}|authorization|cookie)\\\\"`, 'i'),
    pattern: new RegExp(
      `(\\\\"(?:${SECRET_NAME}|authorization|cookie)\\\\"\\s*:\\s*\\\\")(?:[^"\\\\]|\\\\[^"])*`,
      'gi',
    ),
    replacement: `$1${REDACTED}`,
  },
  // An HTTP header, or a command that sends one; after the others, because it replaces names within its value too
  {
    hint: /(?<=authorization|cookie|api-?key|token):/i,
    pattern:
      /\b((?:proxy-)?authorization|(?:set-)?cookie|x-(?:[a-z]{1,20}-){0,3}(?:api-?key|token)|api-key):(?!\s*(?:Bearer|Basic) \[REDACTED)[ \t]*[^\s"'\\][^\r\n"'\\]*/gi,
    replacement: `$1: ${REDACTED}`,
  },
  {
    hint: /\/(?:home|Users)\/|:\\{1,2}Users\\|\/root/,
    pattern: /(?:\/home\/|\/Users\/|\b[A-Za-z]:\\{1,2}Users\\{1,2})[^/\\\s"':;,]+|\/root(?=\/|$)/g,
    replacement: '~',
  },
];

const anyHint = (flags: string): RegExp =>
  new RegExp(
    RULES.filter(({ hint }) => hint.flags === flags)
      .map(({ hint }) => hint.source)
      .join('|'),
    flags,
  );
const ANY_HINT = anyHint('');
const ANY_HINT_IN_ANY_CASE = anyHint('i');

const WHOLE_CREDENTIAL = new RegExp(
  `^\\s*(?:(?:bearer\\s+|${PREFIX})\\S+|basic\\s+([^\\s]+))\\s*$`,
  'isu',
);

/** Whether a text is a credential and nothing else. */
function isCredential(text: string): boolean {
  const match = WHOLE_CREDENTIAL.exec(text);
  if (match === null) return false;
  const encoded = match[1];
  return encoded === undefined || isNameAndPassword(encoded);
}

function isNameAndPassword(word: string): boolean {
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/u.test(word)) return false;
  const decoded = Buffer.from(word, 'base64');
  return decoded.includes(':') && decoded.every((byte) => byte >= 0x20 && byte !== 0x7f);
}

function mayHoldSecret(text: string): boolean {
  return ANY_HINT.test(text) || ANY_HINT_IN_ANY_CASE.test(text);
}

/** One text without secrets, home directories as `~`. */
export function redactText(text: string): string {
  if (!mayHoldSecret(text)) return text;
  let clean = text;
  for (const { hint, pattern, replacement = REDACTED } of RULES) {
    if (!hint.test(clean)) continue;
    clean =
      typeof replacement === 'string'
        ? clean.replaceAll(pattern, replacement)
        : clean.replaceAll(pattern, replacement);
  }
  return clean;
}

/** Like `redactText`, for a text that is a value of its own. */
export function redactValue(text: string): string {
  if (!mayHoldSecret(text)) return text;
  return isCredential(text) ? REDACTED : redactText(text);
}

/** How far beyond the cut to look for a secret: a secret that is cut in two would not be recognised. */
const LONGEST_SECRET = 4096;

/** The start of a text, redacted before it is cut. */
export function redactedStart(text: string, length: number, hide: Redact): string {
  // Keys in use go first, anywhere in the text: replacing many of them moves later text into the beginning.
  const start = hide(text).slice(0, length + LONGEST_SECRET);
  return redactValue(start).slice(0, length);
}

/** `hide` removes the keys in use. */
export function redact(value: JsonValue, hide: Redact = (text) => text): JsonValue {
  return isClean(value, hide) ? value : rewrite(value, hide);
}

/** Nearly every value has nothing to hide, and checking that allocates nothing. */
function isClean(value: JsonValue, hide: Redact): boolean {
  if (typeof value === 'string') return !mayHoldSecret(value) && hide(value) === value;
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) {
    const list = value as readonly JsonValue[];
    return !isSecretPair(list) && list.every((inner) => isClean(inner, hide));
  }
  const record = value as JsonObject;
  for (const key of Object.keys(record)) {
    const inner = record[key];
    const { name, secret } = keyFacts(key);
    if (secret || name !== key || inner === undefined || !isClean(inner, hide)) return false;
    if (hide(key) !== key) return false;
  }
  return true;
}

function rewrite(value: JsonValue, hide: Redact): JsonValue {
  if (typeof value === 'string') return redactValue(hide(value));
  if (Array.isArray(value)) {
    const list = value as readonly JsonValue[];
    if (isSecretPair(list)) return [redactText(hide(list[0])), hidden(list[1])];
    return list.map((inner) => rewrite(inner, hide));
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries: [string, JsonValue][] = [];
  const taken = new Set<string>();
  for (const [key, inner] of Object.entries(value as JsonObject)) {
    if (inner === undefined) continue;
    const facts = keyFacts(hide(key));
    let { name } = facts;
    while (taken.has(name)) name = `${name}'`;
    taken.add(name);
    entries.push([name, facts.secret ? hidden(inner) : rewrite(inner, hide)]);
  }
  return Object.fromEntries(entries);
}

type KeyFacts = { readonly name: string; readonly secret: boolean };

/** The same few hundred keys occur in every event. */
const knownKeys = new Map<string, KeyFacts>();
const MAX_KNOWN_KEYS = 1000;
const MAX_KNOWN_KEY = 64;

function keyFacts(key: string): KeyFacts {
  const known = knownKeys.get(key);
  if (known !== undefined) return known;
  const facts = { name: redactText(key), secret: isSecretKey(key) };
  if (knownKeys.size < MAX_KNOWN_KEYS && key.length <= MAX_KNOWN_KEY) knownKeys.set(key, facts);
  return facts;
}

/** A pair whose first half names a secret, as in a list of headers, is treated like a key and its value. */
function isSecretPair(list: readonly JsonValue[]): list is readonly [string, JsonValue] {
  return list.length === 2 && typeof list[0] === 'string' && isSecretKey(list[0]);
}

/** Null and booleans are not secrets. */
function hidden(value: JsonValue): JsonValue {
  return value === null || typeof value === 'boolean' ? value : REDACTED;
}
