// prints: {"said":"hello"} ["1 class: class A","1 function: def a()"]
import type { Tool } from '@orion/contracts';
import { createCodeDefinitionsTool, createToolRegistry } from '@orion/tool-runner';

const echo: Tool = {
  definition: {
    name: 'echo',
    description: 'Says it again.',
    parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  },
  effect: 'read',
  execute: (args) => Promise.resolve({ result: { said: args['text'] ?? null } }),
};
// The grammars are files of the package.
const texts: Readonly<Record<string, string>> = { 'a.ts': 'class A {}', 'b.py': 'def a(): pass' };
const definitions = createCodeDefinitionsTool({
  listFiles: () => Promise.resolve({ files: Object.keys(texts), truncated: false, refused: [] }),
  readText: (path) =>
    Promise.resolve({
      path,
      encoding: 'utf-8',
      content: texts[path] ?? '',
      firstLine: 1,
      lastLine: 1,
      totalLines: 1,
      totalBytes: 1,
      truncated: false,
    }),
});
const results = await createToolRegistry([echo, definitions]).executeToolCalls(
  [
    { id: '1', name: 'echo', arguments: '{"text":"hello"}', state: 'complete' },
    { id: '2', name: 'list_code_definition_names', arguments: '{}', state: 'complete' },
  ],
  { projectId: 'p', requestId: 'r', mode: 'act', signal: new AbortController().signal },
);
const [said, listed] = results.map((result) => (result.success ? result.result : result.error));
const { files } = listed as { readonly files: readonly { readonly definitions: string[] }[] };
console.log(JSON.stringify(said), JSON.stringify(files.flatMap((file) => file.definitions)));
