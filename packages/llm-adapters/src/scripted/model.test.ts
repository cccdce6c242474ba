import { expect, onTestFinished, test } from 'vitest';

import { createOpenAiCompatibleAdapter } from '../openai-compatible/adapter.ts';
import { collect, textOf } from '../testing/streams.ts';
import { startScriptedProvider } from './server.ts';

test('a model of one’s own is asked first, and the script where it has nothing to say', async () => {
  const provider = await startScriptedProvider(
    { behaviours: [{ reply: { text: 'from the script' } }] },
    {
      model: ({ model, messages }) =>
        model === 'parrot'
          ? { reply: { text: `${messages.at(-1)?.text}!`, finishReason: 'length' } }
          : undefined,
    },
  );
  onTestFinished(() => provider.close());
  const ask = (model: string): ReturnType<typeof collect> =>
    collect(
      createOpenAiCompatibleAdapter({ model, baseUrl: provider.url }).sendMessagesStreaming(
        [{ role: 'user', content: 'Hello' }],
        {},
      ),
    );

  const parrot = await ask('parrot');
  expect(textOf(parrot)).toBe('Hello!');
  expect(parrot.at(-1)).toMatchObject({ type: 'finish', reason: 'length' });
  expect(textOf(await ask('owl'))).toBe('from the script');
});

test('a provider may be closed twice', async () => {
  const provider = await startScriptedProvider({ behaviours: [{ reply: { text: 'a' } }] });
  await provider.close();
  await provider.close();
  await expect(fetch(provider.url)).rejects.toThrow();
});
