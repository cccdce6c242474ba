import { inspectMcpServer } from '@orion/agent';

import type { TurnOptions } from '../command-line/options.ts';
import type { CommandContext } from '../process/context.ts';
import { sanitizeLine } from '../terminal/sanitize.ts';
import { alignColumns } from '../terminal/table.ts';
import { configure } from './configure.ts';
import { printJson, printList } from './with-orion.ts';

/** `orion mcp list`: the servers that a turn would start. */
export async function listMcpServersCommand(
  context: CommandContext,
  options: TurnOptions,
): Promise<void> {
  const { mcp, json } = await configure(context, options);
  // Without headers and variables, which may be keys.
  const items = mcp.servers.map(({ name, kind, place }) => ({ name, kind, place }));
  await printList(
    context,
    { json },
    {
      name: 'servers',
      items,
      none: 'No MCP server is configured: see docs/guides/mcp-servers.md.',
      headings: ['NAME', 'KIND', 'COMMAND OR URL'],
      cells: ({ name, kind, place }) => [name, kind, sanitizeLine(place)],
    },
  );
}

/** `orion mcp test <name>`: starts a server, shows its tools, ends it. */
export async function testMcpServerCommand(
  context: CommandContext,
  name: string,
  options: TurnOptions,
): Promise<void> {
  const { mcp, workspace, json } = await configure(context, options);
  const { signal } = new AbortController();
  const report = await inspectMcpServer(mcp, name, { signal, workspace });
  const { server, place, revision, leftOut } = report;
  const tools = report.tools.map((tool) => ({ name: tool.name, description: tool.description }));
  if (json) {
    await printJson(context, { server, place, revision, tools, left_out: leftOut });
    return;
  }
  for (const why of leftOut) context.screen.line(sanitizeLine(why), 'warning');
  const rows = tools.map((tool) => [tool.name, sanitizeLine(firstLine(tool.description))]);
  await context.stdout.write(
    alignColumns([[server, sanitizeLine(`MCP ${revision}, ${tools.length} tools`)], ...rows]),
  );
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}
