import { setTimeout as pause } from 'node:timers/promises';

import { systemClock } from '@orion/contracts';
import type { LlmEvent, RunEvent, Tool } from '@orion/contracts';
import { createFakeAdapter } from '@orion/testkit';
import type { FakeAdapter, FakeReply } from '@orion/testkit';
import { openStore } from '@orion/trace-store';
import type { Store } from '@orion/trace-store';
import { onTestFinished } from 'vitest';

import type { OwnedTurnRequest } from '../orion.ts';
import { createOwner } from './mortal-owner.ts';
import type { Effect, Owner, OwnerOptions } from './mortal-owner.ts';
import { temporaryDirectory } from './set-up.ts';

/** One turn that several owners run, one after the other, on a real store and a real disk. */
export type TakenTurn = {
  readonly root: string;
  readonly store: Store;
  /** The arguments with which tools ran, by tool. */
  readonly ran: Record<string, unknown[]>;
  /** The next owner of the turn, with what its model answers. */
  owner(
    replies: readonly FakeReply[],
    options?: Partial<OwnerOptions>,
  ): Promise<Owner & { readonly adapter: FakeAdapter }>;
  run(owner: Owner, request?: Partial<OwnedTurnRequest>): Promise<readonly RunEvent[] | null>;
  log(): Promise<readonly RunEvent[]>;
};

export async function openTurn(tools: readonly Tool[] = []): Promise<TakenTurn> {
  const root = await temporaryDirectory();
  const store = openStore({ kind: 'memory' }, { clock: systemClock });
  onTestFinished(() => store.close());
  const ran: Record<string, unknown[]> = {};
  const seen = tools.map((tool): Tool => ({
    ...tool,
    execute(args, context) {
      (ran[tool.definition.name] ??= []).push(args);
      return tool.execute(args, context);
    },
  }));
  return {
    root,
    store,
    ran,
    async owner(replies, options = {}) {
      const adapter = createFakeAdapter(replies);
      const parts = { root, store, turnId: 't', tools: seen, adapter, ...options };
      return { ...(await createOwner(parts)), adapter };
    },
    async run(owner, request = {}) {
      const events = await owner.run({ content: 'q', conversationId: 'c', ...request });
      // What the operating system had begun for an owner that died ends.
      if (events === null) await pause(5);
      return events;
    },
    async log() {
      const entries = await store.turnLog.read('t', 0, 10_000);
      return entries.map(
        ({ seq, kind, data }) => ({ ...(data as object), seq, type: kind }) as unknown as RunEvent,
      );
    },
  };
}

export function tool(
  name: string,
  effect: Tool['effect'],
  execute: Tool['execute'] = () => Promise.resolve({ result: 'ran' }),
): Tool {
  return {
    definition: { name, description: name, parameters: { type: 'object' } },
    effect,
    execute,
  };
}

/** A model that says this, and then nothing more until it is left. */
export function saying(...events: readonly LlmEvent[]): FakeReply {
  return async function* say({ options }) {
    yield* events;
    await new Promise<void>((resolve) => {
      options.signal?.addEventListener('abort', () => resolve(), { once: true });
    });
  };
}

export const text = (content: string): LlmEvent => ({ type: 'text-delta', text: content });

/** The statement that stores an event of this kind. */
export const storing =
  (kind: string) =>
  ({ kind: of, name }: Effect): boolean =>
    of === 'store' && name.split(' ').includes(kind);

export const onDisk =
  (call: string) =>
  ({ kind, name }: Effect): boolean =>
    kind === 'disk' && name === call;
