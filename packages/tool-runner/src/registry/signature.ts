import type { JsonObject, JsonValue } from '@orion/contracts';
import canonicalize from 'canonicalize';

/**
 * The signature of a call, which is the same for equivalent calls (R171): canonical JSON (RFC 8785) of tool,
 * parameters and project. Strings are trimmed, and paths are normalised.
 */
export function signature(toolName: string, parameters: JsonValue, projectId: string): string {
  const text = canonicalize({
    tool: toolName,
    parameters: comparable(parameters, ''),
    projectId,
  });
  if (text === undefined) throw new Error(`No signature for a call of ${toolName}`);
  return text;
}

const PATH_KEY =
  /^(?:path|file|filename|filepath|directory|dir|cwd)$|(?:_path|_file|_directory|Path|File)$/;

function comparable(value: JsonValue, key: string): JsonValue {
  if (typeof value === 'string') {
    const text = escapeLoneSurrogates(value.trim());
    return PATH_KEY.test(key) ? samePath(text) : text;
  }
  if (Array.isArray(value)) {
    return (value as readonly JsonValue[]).map((item) => comparable(item, key));
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value as JsonObject).flatMap(([name, inner]) =>
    inner === undefined ? [] : [[escapeLoneSurrogates(name), comparable(inner, name)] as const],
  );
  return Object.fromEntries(entries);
}

/** `./a//b/../c/` becomes `a/c`. A path that leaves the folder keeps its `..`. */
export function samePath(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else parts.push(part);
  }
  const joined = parts.join('/');
  if (path.startsWith('/')) return `/${joined}`;
  return joined === '' && path !== '' ? '.' : joined;
}

/** RFC 8785 does not allow lone surrogates, but a model may send one. */
function escapeLoneSurrogates(text: string): string {
  if (text.isWellFormed()) return text;
  return text.replaceAll(
    /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16)}`,
  );
}
