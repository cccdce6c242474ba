// prints: complete a line
import { readFile, rm, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOrion } from '@orion/agent';

const workspace = await mkdtemp(join(tmpdir(), 'orion-use-'));
const script = JSON.stringify({
  behaviours: [
    { when: { toolChoice: 'none' }, reply: { text: 'a line\nDONE' } },
    {
      when: { toolResults: 0 },
      reply: {
        toolCalls: [
          {
            name: 'WritePlanTool_begin',
            arguments: { intent: 'use', target_file: 'a.txt', operation: 'create' },
          },
        ],
      },
    },
    { reply: { text: 'Written.' } },
  ],
});
const orion = await createOrion({ workspace, provider: { type: 'scripted', script } });
let status = '';
for await (const event of orion.runTurn({ content: 'Write a.txt' })) {
  if (event.type === 'done') status = event.status;
}
await orion.close();
console.log(status, (await readFile(join(workspace, 'a.txt'), 'utf8')).trim());
await rm(workspace, { recursive: true, force: true });
