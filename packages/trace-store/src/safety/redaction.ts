import type { JsonObject, JsonValue } from '@orion/contracts';

/**
 * Takes secrets and home directories out of what is stored (R229).
 *
 * 1. Whatever stands under a key that names a secret is replaced, whole.
 * 2. In every text, keys included, what looks like a secret is replaced.
 * 3. Works on JSON and gives JSON: it runs after `toSafeJson`, so that nothing can hide behind a getter.
 */
export const REDACTED = '[REDACTED]';

/** Compared with a key without its separators, in lower case; counts of tokens are no secrets. */
const SECRET_KEY =
  /(?:authorization|apikey|accesskey|secretkey|privatekey|signingkey|encryptionkey|secret|token|password|passwd|passphrase|passcode|credentials?|cookie|bearer)$|^(?:pwd|pass|auth|jwt)$/;

export function isSecretKey(key: string): boolean {
  return SECRET_KEY.test(key.replaceAll(/[^a-zA-Z0-9]/g, '').toLowerCase());
}

// The lookbehind and the limit keep the search linear on long runs of name characters.
const SECRET_NAME =
  '(?<![A-Za-z0-9_.-])[A-Za-z0-9_.-]{0,64}(?:api[_-]?key|access[_-]?key|secret|token|password|passwd|signature|credential)';

type Rule = { readonly pattern: RegExp; readonly replacement: string };

const RULES: readonly Rule[] = [
  {
    pattern: /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
    replacement: REDACTED,
  },
  { pattern: /\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{4,}/gi, replacement: `$1 ${REDACTED}` },
  { pattern: /\b(?:sk|rk|pk)-[A-Za-z0-9_-]{8,}/g, replacement: REDACTED },
  { pattern: /\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{8,}/g, replacement: REDACTED },
  {
    pattern: /\b(?:gh[pousr]_|github_pat_|glpat-|xox[a-z]-|npm_)[A-Za-z0-9_-]{8,}/g,
    replacement: REDACTED,
  },
  { pattern: /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, replacement: REDACTED },
  { pattern: /\bAIza[A-Za-z0-9_-]{30,}/g, replacement: REDACTED },
  {
    pattern: /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)?/g,
    replacement: REDACTED,
  },
  // user:password@ in a URL
  { pattern: /(:\/\/)[^\s/?#@:]*:[^\s/?#@]+@/g, replacement: `$1${REDACTED}@` },
  // ?key=value in a URL
  {
    pattern: new RegExp(`([?&;](?:${SECRET_NAME}|key|sig|auth|code|pass)=)[^&\\s#"']+`, 'gi'),
    replacement: `$1${REDACTED}`,
  },
  // NAME=value, as in an environment
  {
    pattern: new RegExp(`(${SECRET_NAME}=)(?!\\[REDACTED)[^\\s&"']+`, 'gi'),
    replacement: `$1${REDACTED}`,
  },
  // "name": "value", JSON inside a text, and the same with its quotes escaped
  {
    pattern: new RegExp(
      `("(?:${SECRET_NAME}|authorization|cookie)"\\s*:\\s*")(?:[^"\\\\]|\\\\.)*`,
      'gis',
    ),
    replacement: `$1${REDACTED}`,
  },
  {
    pattern: new RegExp(
      `(\\\\"(?:${SECRET_NAME}|authorization|cookie)\\\\"\\s*:\\s*\\\\")(?:[^"\\\\]|\\\\[^"])*`,
      'gi',
    ),
    replacement: `$1${REDACTED}`,
  },
];

const HOME = /(?:\/home\/|\/Users\/|\b[A-Za-z]:\\{1,2}Users\\{1,2})[^/\\\s"':;,]+|\/root(?=\/|$)/g;

/** One text without secrets, home directories as `~`. */
export function redactText(text: string): string {
  let clean = text;
  for (const { pattern, replacement } of RULES) clean = clean.replaceAll(pattern, replacement);
  return clean.replaceAll(HOME, '~');
}

export function redact(value: JsonValue): JsonValue {
  if (typeof value === 'string') return redactText(value);
  if (Array.isArray(value)) return redactList(value as readonly JsonValue[]);
  if (typeof value !== 'object' || value === null) return value;
  const entries: [string, JsonValue][] = [];
  const taken = new Set<string>();
  for (const [key, inner] of Object.entries(value as JsonObject)) {
    if (inner === undefined) continue;
    let name = redactText(key);
    while (taken.has(name)) name = `${name}'`;
    taken.add(name);
    entries.push([name, isSecretKey(key) ? hidden(inner) : redact(inner)]);
  }
  return Object.fromEntries(entries);
}

/** A pair whose first half names a secret, as in a list of headers, is treated like a key and its value. */
function redactList(list: readonly JsonValue[]): JsonValue {
  const [first, second] = list;
  if (
    list.length === 2 &&
    typeof first === 'string' &&
    second !== undefined &&
    isSecretKey(first)
  ) {
    return [redactText(first), hidden(second)];
  }
  return list.map(redact);
}

/** Nothing, and whether there is something, are no secrets. */
function hidden(value: JsonValue): JsonValue {
  return value === null || typeof value === 'boolean' ? value : REDACTED;
}
