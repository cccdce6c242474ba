// prints: {"said":"hello"}
import type { Tool } from '@orion/contracts';
import { createToolRegistry } from '@orion/tool-runner';

const echo: Tool = {
  definition: {
    name: 'echo',
    description: 'Says it again.',
    parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  },
  effect: 'read',
  execute: (args) => Promise.resolve({ result: { said: args['text'] ?? null } }),
};
const [result] = await createToolRegistry([echo]).executeToolCalls(
  [{ id: '1', name: 'echo', arguments: '{"text":"hello"}', state: 'complete' }],
  { projectId: 'p', requestId: 'r', mode: 'act', signal: new AbortController().signal },
);
console.log(result?.success === true ? JSON.stringify(result.result) : 'failed');
