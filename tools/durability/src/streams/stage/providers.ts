import type { Script } from '@orion/llm-adapters/scripted';

import { forkModule } from '../../processes.ts';
import type { ProviderAnswer, ProviderRequest } from './provider-process.ts';

export type RunningProvider = { readonly url: URL; stop(): void };

type Waiting = {
  readonly resolve: (url: string) => void;
  readonly reject: (error: Error) => void;
};

export type Providers = {
  start(script: Script): Promise<RunningProvider>;
  close(): void;
};

export function startProviders(): Providers {
  const child = forkModule(new URL('./provider-process.ts', import.meta.url));
  const waiting = new Map<number, Waiting>();
  let last = 0;
  const send = (request: ProviderRequest): void => {
    child.send(request);
  };
  child.on('message', (answer: ProviderAnswer) => {
    waiting.get(answer.id)?.resolve(answer.url);
    waiting.delete(answer.id);
  });
  child.on('exit', () => {
    for (const { reject } of waiting.values()) reject(new Error('the provider process has ended'));
  });
  return {
    start: async (script) => {
      const id = (last += 1);
      const url = await new Promise<string>((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        send({ kind: 'start', id, script });
      });
      return { url: new URL(url), stop: () => send({ kind: 'stop', id }) };
    },
    close: () => child.kill('SIGKILL'),
  };
}
