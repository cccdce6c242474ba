import { startScriptedProvider } from '@orion/llm-adapters/scripted';
import type { Script, ScriptedProvider } from '@orion/llm-adapters/scripted';

/** What the lane asks of the process that holds its providers, and what it gets. */
export type ProviderRequest =
  | { readonly kind: 'start'; readonly id: number; readonly script: Script }
  | { readonly kind: 'stop'; readonly id: number };
export type ProviderAnswer = { readonly id: number; readonly url: string };

// A process of its own: it has nothing but the requests, and its work costs the lane's clock nothing.
const providers = new Map<number, ScriptedProvider>();

process.on('message', (request: ProviderRequest) => {
  void (request.kind === 'start' ? start(request.id, request.script) : stop(request.id));
});
process.on('disconnect', () => process.exit());

async function start(id: number, script: Script): Promise<void> {
  const provider = await startScriptedProvider(script);
  providers.set(id, provider);
  const answer: ProviderAnswer = { id, url: provider.url };
  process.send?.(answer);
}

async function stop(id: number): Promise<void> {
  await providers.get(id)?.close();
  providers.delete(id);
}
