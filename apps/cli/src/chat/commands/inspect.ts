import { formatAge, formatBytes, plural } from '../../terminal/format.ts';
import { sanitizeLine } from '../../terminal/sanitize.ts';
import type { ChatTools } from '../tools.ts';
import type { ChatCommand } from './command.ts';
import { table } from './command.ts';

/** Most stored outputs that are listed. */
const LISTED = 20;

const outputs: ChatCommand = {
  name: 'outputs',
  argument: '',
  summary: 'stored outputs of this conversation',
  beside: true,
  async run(tools) {
    const { orion, turns } = tools;
    const { conversationId } = turns;
    const found =
      conversationId === null
        ? { outputs: [], total: 0 }
        : await orion.store.toolOutputs.list({ conversation_id: conversationId, limit: LISTED });
    if (found.outputs.length === 0) {
      tools.line('This conversation has no stored outputs.');
      return;
    }
    const now = Date.now();
    table(
      tools,
      found.outputs.map(({ id, tool_name: tool, bytes, created_at: at }) => [
        id,
        sanitizeLine(tool),
        formatBytes(bytes),
        `${formatAge(now - at)} ago`,
      ]),
    );
    const more = found.total - found.outputs.length;
    if (more > 0) tools.line(`And ${plural(more, 'older one')}.`, 'faint');
    tools.line('`orion outputs stats <id>` looks into one.', 'faint');
  },
};

const tools: ChatCommand = {
  name: 'tools',
  argument: '',
  summary: 'the tools of the model, and where they come from',
  beside: true,
  async run(chat, _argument, signal) {
    const listing = await chat.orion.listTools(signal);
    table(
      chat,
      listing.tools.map(({ name, effect, server, description }) => [
        sanitizeLine(name),
        effect === 'read' ? 'reads' : 'acts',
        server === null ? 'Orion' : `MCP server ${sanitizeLine(server)}`,
        firstSentence(description),
      ]),
    );
    leftOut(chat, listing.leftOut);
  },
};

const mcp: ChatCommand = {
  name: 'mcp',
  argument: '',
  summary: 'MCP servers and their state',
  beside: true,
  async run(chat, _argument, signal) {
    const { servers } = chat.configuration.mcp;
    if (servers.length === 0) {
      chat.line('No MCP server is configured: see docs/guides/mcp-servers.md.');
      return;
    }
    const listing = await chat.orion.listTools(signal);
    table(
      chat,
      servers.map(({ name, kind, place }) => {
        const count = listing.tools.filter(({ server }) => server === name).length;
        const state = count === 0 ? 'no tools' : plural(count, 'tool');
        return [sanitizeLine(name), kind, state, sanitizeLine(place)];
      }),
    );
    leftOut(chat, listing.leftOut);
    chat.line(
      'A tool that changed since you agreed to it is asked about when it is called.',
      'faint',
    );
  },
};

export const inspectCommands: readonly ChatCommand[] = [outputs, tools, mcp];

function leftOut({ line }: ChatTools, reasons: readonly string[]): void {
  for (const why of reasons) line(why, 'warning');
}

function firstSentence(text: string): string {
  const [line = ''] = text.split('\n', 1);
  return sanitizeLine(line.split(/(?<=\.)\s/u, 1)[0] ?? '').slice(0, 80);
}
