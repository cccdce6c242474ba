import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import type { Script } from '@orion/llm-adapters/scripted';

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

/** The workspace's packages are run from their source, as everything in `tools` is. */
export const SOURCE_CONDITION = '--conditions=@orion/source';

export function startProviders(): Providers {
  const child = fork(fileURLToPath(new URL('./provider-process.ts', import.meta.url)), {
    execArgv: [SOURCE_CONDITION],
  });
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
