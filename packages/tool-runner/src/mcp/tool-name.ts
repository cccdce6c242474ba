import { createHash } from 'node:crypto';

const MAX_NAME = 64;
const HASH_DIGITS = 8;

/**
 * The name under which a model sees a tool of a server: `mcp__<server>__<tool>`, as every provider accepts it. A
 * tool's name that does not fit is spelled as well as possible and gets a hash, so that no two become one.
 */
export function mcpToolName(server: string, tool: string): string {
  const plain = `mcp__${server}__${tool.replaceAll(/[^A-Za-z0-9_-]/gu, '_')}`;
  if (plain.length <= MAX_NAME && plain.endsWith(`__${tool}`)) return plain;
  const hash = createHash('sha256')
    .update(JSON.stringify([server, tool]))
    .digest('hex')
    .slice(0, HASH_DIGITS);
  return `${plain.slice(0, MAX_NAME - HASH_DIGITS - 1)}_${hash}`;
}
