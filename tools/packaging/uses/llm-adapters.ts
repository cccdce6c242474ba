// prints: Hello from a script.
import { createAdapter } from '@orion/llm-adapters';
import type { Script } from '@orion/llm-adapters/scripted';

const script: Script = { behaviours: [{ reply: { text: 'Hello from a script.' } }] };
const adapter = await createAdapter({ provider: 'scripted', script: JSON.stringify(script) });
let text = '';
for await (const event of adapter.sendMessagesStreaming([{ role: 'user', content: 'Hi' }], {})) {
  if (event.type === 'text-delta') text += event.text;
}
await adapter.close();
console.log(text);
