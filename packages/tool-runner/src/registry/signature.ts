import type { JsonObject, JsonValue } from '@orion/contracts';
import canonicalize from 'canonicalize';

/**
 * The text by which calls that mean the same are the same (R171): canonical JSON (RFC 8785) of tool, parameters
 * and project. Texts are trimmed, and those under a key that names a path are brought to one spelling.
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

/** `./a//b/../c/` is `a/c`; a path that climbs out keeps its `..`. */
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

/** RFC 8785 has no form for a lone surrogate; a model can send one all the same. */
function escapeLoneSurrogates(text: string): string {
  if (text.isWellFormed()) return text;
  return text.replaceAll(
    /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16)}`,
  );
}
