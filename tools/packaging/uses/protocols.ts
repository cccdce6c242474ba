// prints: standard complete Hello. two-stage complete Hello. controller complete Hello.
import { createTurnState, type LlmAdapter } from '@orion/contracts';
import { createProtocol, PROTOCOL_NAMES, resolveProtocolConfig } from '@orion/protocols';

const said: string[] = [];
for (const name of PROTOCOL_NAMES) {
  const text = name === 'controller' ? '{"action":"complete","message":"Hello."}' : 'Hello.';
  const adapter: LlmAdapter = {
    name: 'own',
    model: 'own',
    structuredOutput: true,
    signalsMessageEnd: true,
    async *sendMessagesStreaming() {
      yield { type: 'text-delta', text };
      yield { type: 'finish', reason: 'stop' };
    },
  };
  const events = createProtocol(name).executeStreaming({
    messages: [{ role: 'user', content: 'Say hello.' }],
    mode: 'act',
    projectId: 'use',
    requestId: 'use',
    adapter,
    toolRegistry: {
      definitions: () => [],
      traitsOf: () => undefined,
      executeToolCalls: () => Promise.resolve([]),
      signatureOf: () => '',
      summarize: () => '',
    },
    traceService: { record: () => undefined },
    config: resolveProtocolConfig({}),
    turnState: createTurnState(),
    clock: {
      now: () => Date.now(),
      monotonic: () => performance.now(),
      schedule(milliseconds: number, callback: () => void) {
        const timer = setTimeout(callback, milliseconds);
        return () => clearTimeout(timer);
      },
    },
    startedAt: performance.now(),
    signal: new AbortController().signal,
  });
  let content = '';
  let outcome = '';
  for await (const event of events) {
    if (event.type === 'chunk') content += event.content;
    if (event.type === 'outcome') outcome = event.outcome.kind;
  }
  said.push(`${name} ${outcome} ${content}`);
}
console.log(said.join(' '));
