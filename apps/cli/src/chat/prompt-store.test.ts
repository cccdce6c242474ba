import { expect, it } from 'vitest';

import type { Waiting } from './controller.ts';
import { PromptStore } from './prompt-store.ts';

/** Hazard: a prompt that waits is offered as one of an earlier process, sent by two processes, or lost with the disk. */

const waiting = (key: number, storedId: string | null = null): Waiting => ({
  key,
  storedId,
  input: { kind: 'prompt', typed: `prompt ${key}`, text: `prompt ${key}` },
});

function store(options: { readonly broken?: boolean } = {}) {
  const texts = new Map([['0', 'earlier']]);
  const orion = {
    promptHistory: { read: () => Promise.resolve([]), add: () => Promise.resolve() },
    queuedPrompts: {
      list: async () => {
        await Promise.resolve();
        return [...texts].map(([id, text]) => ({ id, text, conversationId: null }));
      },
      add: ({ text }: { readonly text: string }) => {
        if (options.broken === true) return Promise.reject(new Error('no disk'));
        const id = String(texts.size);
        texts.set(id, text);
        return Promise.resolve(id);
      },
      remove: (id: string) => Promise.resolve(texts.delete(id)),
    },
  };
  return { texts, prompts: new PromptStore(() => Promise.resolve(orion)) };
}

it('offers nothing of its own as something earlier', async () => {
  const { prompts, texts } = store();
  prompts.store(waiting(1), 'c');
  const earlier = await prompts.earlier();
  expect(earlier.map(({ text }) => text)).toEqual(['earlier']);
  expect(await prompts.take(waiting(1))).toBe(true);
  expect([...texts.values()]).toEqual(['earlier']);
});

it('may not send what another process has taken', async () => {
  const { prompts, texts } = store();
  prompts.store(waiting(1), null);
  await prompts.earlier();
  await new Promise(setImmediate);
  texts.clear();
  expect(await prompts.take(waiting(1))).toBe(false);
  expect(await prompts.take(waiting(2, '0'))).toBe(false);
});

it('sends what was never stored, or could not be', async () => {
  const { prompts } = store({ broken: true });
  expect(await prompts.take(waiting(1))).toBe(true);
  prompts.store(waiting(2), null);
  expect(await prompts.take(waiting(2))).toBe(true);
});
