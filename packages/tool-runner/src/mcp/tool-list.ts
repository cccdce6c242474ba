import { isFields } from '@orion/contracts';
import type { JsonObject } from '@orion/contracts';
import { z } from 'zod';

import { hasForbiddenHeader } from './argument-headers.ts';
import { ServerBroke } from './server.ts';
import type { McpLimits } from './server.ts';

/** A list that goes on for longer has no end. */
const MOST_PAGES = 64;

type ToolPage = {
  readonly tools: readonly unknown[];
  readonly nextCursor?: string | null | undefined;
};

/** A page of a server's list. Its tools are looked at one by one: an odd one does not take the others with it. */
export const toolPageSchema: z.ZodType<ToolPage> = z.object({
  tools: z.array(z.unknown()),
  nextCursor: z.string().nullish(),
});

type PageRequest = { readonly method: 'tools/list'; readonly params?: { readonly cursor: string } };

/** The entries of all pages. Rejects with `ServerBroke` beyond `most` of them. */
export async function readPages(
  read: (request: PageRequest) => Promise<ToolPage>,
  most: number,
): Promise<readonly unknown[]> {
  const method = 'tools/list';
  let { tools, nextCursor: cursor } = await read({ method });
  for (let pages = 1; typeof cursor === 'string'; pages += 1) {
    if (pages === MOST_PAGES)
      throw new ServerBroke(`its list of tools has more than ${pages} pages`);
    if (tools.length > most) break;
    const page = await read({ method, params: { cursor } });
    // The same page again.
    if (page.nextCursor === cursor) break;
    tools = [...tools, ...page.tools];
    cursor = page.nextCursor;
  }
  if (tools.length > most) throw new ServerBroke(`it has more than ${most} tools`);
  return tools;
}

/** A tool as it can be offered. */
export type ServerTool = {
  /** As the server spells it. */
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject & { readonly type: 'object' };
};

export type ListedTool =
  | { readonly kind: 'tool'; readonly tool: ServerTool }
  /** The name as far as there is one; the reason completes a sentence about the tool. */
  | { readonly kind: 'left-out'; readonly name: string | null; readonly why: string };

export type ListedToolOptions = {
  readonly limits: McpLimits;
  /** Whether its arguments may have to be repeated in the headers of a request. */
  readonly mayNeedHeaders: boolean;
};

/** What a server lists as a tool, as far as it is one. */
export function listedTool(
  entry: unknown,
  { limits: { descriptionBytes }, mayNeedHeaders }: ListedToolOptions,
): ListedTool {
  const { name, description, inputSchema: schema } = isFields(entry) ? entry : {};
  if (typeof name !== 'string') return { kind: 'left-out', name: null, why: 'it has no name' };
  const leftOut = (why: string): ListedTool => ({ kind: 'left-out', name, why });
  const said = typeof description === 'string' ? description : '';
  if (Buffer.byteLength(said) > descriptionBytes) {
    return leftOut(`its description is longer than ${descriptionBytes} bytes`);
  }
  if (!isFields(schema) || (schema['type'] ?? 'object') !== 'object') {
    return leftOut('the schema of its arguments is not that of an object');
  }
  if (mayNeedHeaders && hasForbiddenHeader(schema)) {
    return leftOut('it asks for an argument in a header in a way that the protocol forbids');
  }
  const inputSchema = { ...(schema as JsonObject), type: 'object' } as const;
  return { kind: 'tool', tool: { name, description: said, inputSchema } };
}
