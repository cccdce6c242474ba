import { expect, test } from 'vitest';

import { startScriptedProvider } from './scripted/server.ts';
import { FORMATS, createAdapterOf } from './testing/providers.ts';
import { ONCE, collect } from './testing/streams.ts';

const TOOLS = ['tool_outputs.list', 'tool_outputs_read', 'list_files'].map((name) => ({
  name,
  description: name,
  parameters: { type: 'object', properties: {} },
}));

test.for(FORMATS)(
  '%s: a provider sees names that it accepts, everybody else those of Orion (R280)',
  async (format) => {
    const toolCalls = [
      'tool_outputs_list',
      'tool_outputs.list',
      'FileSystemTool_list_files',
      'x',
    ].map((name) => ({ name, arguments: {} }));
    const provider = await startScriptedProvider({ behaviours: [{ reply: { toolCalls } }] });
    try {
      const adapter = createAdapterOf(format, { baseUrl: provider.url, apiKey: 'k', retry: ONCE });
      const call = {
        id: 'call_1',
        name: 'tool_outputs.list',
        arguments: '{}',
        state: 'complete',
      } as const;
      const events = await collect(
        adapter.sendMessagesStreaming(
          [
            { role: 'user', content: 'List.' },
            { role: 'assistant', content: '', toolCalls: [call] },
            { role: 'tool', toolCallId: call.id, toolName: call.name, content: '[]' },
          ],
          { tools: TOOLS },
        ),
      );
      const names = ['tool_outputs.list', 'tool_outputs.list', 'list_files', 'x'];
      expect(
        events.flatMap((event) => (event.type === 'tool-call-start' ? [event.name] : [])),
      ).toEqual(names);
      expect(
        events.flatMap((event) => (event.type === 'tool-call-end' ? [event.call.name] : [])),
      ).toEqual(names);
      const sent = JSON.stringify(provider.requests[0]?.body);
      for (const name of ['tool_outputs_list', 'tool_outputs_read', 'list_files'])
        expect(sent).toContain(`"name":"${name}"`);
      expect(sent).not.toContain('"name":"tool_outputs.list"');
      expect(sent).not.toContain('FileSystemTool_');
    } finally {
      await provider.close();
    }
  },
);
