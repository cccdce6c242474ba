import { isFields } from '@orion/contracts';

/** The annotation of an argument that has to be repeated in a header. */
const HEADER = 'x-mcp-header';
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/u;
const TYPES: ReadonlySet<unknown> = new Set(['boolean', 'integer', 'string']);
/** What stands there is a value and no schema. */
const VALUES: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples']);

/** Where a schema stands: only an argument, or a property of one, is a value that a header can repeat. */
type Place = 'root' | 'property' | 'elsewhere';

/**
 * Whether a schema wants an argument in a header where the protocol allows none, or in one that cannot be. A client must
 * not offer such a tool: https://modelcontextprotocol.io/specification/2026-07-28, "Schema Extension".
 */
export function hasForbiddenHeader(schema: unknown): boolean {
  const names = new Set<string>();

  function isForbidden(node: unknown, place: Place): boolean {
    if (Array.isArray(node)) return node.some((each) => isForbidden(each, 'elsewhere'));
    if (!isFields(node)) return false;
    if (HEADER in node) {
      const { [HEADER]: header, type } = node;
      if (place !== 'property' || !TYPES.has(type)) return true;
      if (typeof header !== 'string' || !TOKEN.test(header)) return true;
      const name = header.toLowerCase();
      if (names.has(name)) return true;
      names.add(name);
    }
    return Object.entries(node).some(([keyword, value]) => {
      if (VALUES.has(keyword)) return false;
      if (keyword !== 'properties' || !isFields(value)) return isForbidden(value, 'elsewhere');
      const inside = place === 'elsewhere' ? 'elsewhere' : 'property';
      return Object.values(value).some((each) => isForbidden(each, inside));
    });
  }

  return isForbidden(schema, 'root');
}
