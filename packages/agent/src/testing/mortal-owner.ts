import { readlink } from 'node:fs/promises';
import { hostname } from 'node:os';

import { systemClock } from '@orion/contracts';
import type { AppendOutcome, Clock, RunEvent, Tool, Workspace } from '@orion/contracts';
import type { Store } from '@orion/trace-store';
import { createWorkspace } from '@orion/workspace';

import { createOrion } from '../create-orion.ts';
import type { Orion, OrionOptions, OwnedTurnRequest } from '../orion.ts';

/**
 * Owners of one turn that die within this process, as by SIGKILL: from then on the store and the disk do nothing for
 * them, no timer rings, and to everybody else their process is gone.
 */

/** One write of an owner, in the order in which they are made: to the store, or to the disk. */
export type Effect = { readonly kind: 'store' | 'disk'; readonly name: string };

export type Death = {
  /** Which of its effects: its number, counted from 0, or the first one of which this is true. */
  readonly at: number | ((effect: Effect) => boolean);
  /** Whether that effect still takes place. */
  readonly after: boolean;
};

export type Owner = {
  readonly orion: Orion;
  readonly effects: readonly Effect[];
  kill(): void;
  /** Runs the turn: its events, or null for an owner that died. Rejects with TURN_FINISHED for a turn that is over. */
  run(request: OwnedTurnRequest): Promise<readonly RunEvent[] | null>;
};

export type OwnerOptions = Pick<
  OrionOptions,
  'provider' | 'adapter' | 'protocol' | 'settings' | 'approve'
> & {
  readonly root: string;
  readonly store: Store;
  readonly turnId: string;
  readonly tools?: readonly Tool[];
  readonly death?: Death | null;
  /** Its effects wait for this. */
  readonly delay?: (effect: Effect) => Promise<void>;
  /** To others its process is there for as long as it is, and not gone from the start. */
  readonly isSeen?: boolean;
  /** Called with its workspace before it is used. */
  readonly prepare?: (workspace: Workspace) => void;
  /** How many seconds pass for it in one. */
  readonly speed?: number;
};

const NEVER: Promise<never> = new Promise(() => undefined);
/** What changes the disk; everything else may be called as often as one likes. */
const DISK_EFFECTS: ReadonlySet<string> = new Set([
  'begin',
  'save',
  'saveTurn',
  'startOver',
  'recordWriting',
  'commit',
  'release',
  'remove',
  'discard',
]);

let owners = 0;

export async function createOwner(options: OwnerOptions): Promise<Owner> {
  const { root, store, turnId, tools = [], death = null, speed = 1, ...more } = options;
  const { delay, isSeen = false, prepare, ...rest } = more;
  const effects: Effect[] = [];
  const dead = Promise.withResolvers<void>();
  let isDead = false;
  const die = (): Promise<never> => {
    isDead = true;
    dead.resolve();
    return NEVER;
  };
  const effect = async <Value>(made: Effect, carryOut: () => Promise<Value>): Promise<Value> => {
    if (isDead) return NEVER;
    const isLast = typeof death?.at === 'function' ? death.at(made) : death?.at === effects.length;
    effects.push(made);
    await delay?.(made);
    if (isLast && death?.after === false) return die();
    const value = await carryOut();
    if (isLast) return die();
    return isDead ? NEVER : value;
  };
  const clock = mortalClock(() => isDead, speed);
  const number = (owners += 1);
  const workspace = await createWorkspace({
    root,
    clock,
    ...(isSeen ? {} : { identity: () => goneProcess(number) }),
  });
  prepare?.(workspace);
  const orion = await createOrion({
    ...rest,
    workspace: root,
    clock,
    tools,
    createWorkspace: () =>
      Promise.resolve(
        mortal(workspace, (name, carryOut) =>
          DISK_EFFECTS.has(name) ? effect({ kind: 'disk', name }, carryOut) : carryOut(),
        ),
      ),
    store: mortalStore(store, effect),
  });
  return {
    orion,
    effects,
    kill: () => void die(),
    async run(request) {
      const claim = await store.turnLog.acquire(turnId, null);
      const events: RunEvent[] = [];
      const reading = (async () => {
        for await (const event of orion.runOwnedTurn(claim, request)) events.push(event);
        return events;
      })();
      reading.catch(() => undefined);
      const result = await Promise.race([reading, dead.promise.then(() => null)]);
      if (result !== null) await orion.close();
      return result;
    },
  };
}

async function goneProcess(number: number) {
  return {
    pid: process.pid,
    host: hostname(),
    pidNamespace: await readlink('/proc/self/ns/pid').catch(() => ''),
    startedAt: `gone ${number}`,
  };
}

type CarryOut = <Value>(made: Effect, carryOut: () => Promise<Value>) => Promise<Value>;

function mortalStore(store: Store, effect: CarryOut): Store {
  const { turnLog, conversations } = store;
  return {
    ...store,
    turnLog: {
      ...turnLog,
      appendAll: (appends): Promise<readonly AppendOutcome[]> => {
        const isWrite = appends.some(
          ({ events, checkpoint }) => events.length > 0 || checkpoint !== undefined,
        );
        const append = (): Promise<readonly AppendOutcome[]> => turnLog.appendAll(appends);
        const kinds = appends.flatMap(({ events }) => events.map(({ kind }) => kind));
        return isWrite ? effect({ kind: 'store', name: kinds.join(' ') }, append) : append();
      },
      finish: (append, save, complete) =>
        effect({ kind: 'store', name: 'done' }, () => turnLog.finish(append, save, complete)),
    },
    conversations: {
      ...conversations,
      save: (save) =>
        effect({ kind: 'store', name: 'conversation' }, () => conversations.save(save)),
    },
  };
}

/** Short waits are not waited for: they only collect what comes together. */
function mortalClock(isDead: () => boolean, speed: number): Clock {
  return {
    now: () => systemClock.now(),
    monotonic: () => systemClock.monotonic() * speed,
    schedule: (milliseconds, callback) =>
      systemClock.schedule(milliseconds <= 100 ? 0 : milliseconds / speed, () => {
        if (!isDead()) callback();
      }),
  };
}

/** An object, and those that it gives, whose methods go through `call`. */
function mortal<Target extends Workspace>(
  target: Target,
  call: (name: string, carryOut: () => Promise<unknown>) => Promise<unknown>,
): Target {
  const wrapped = new WeakMap<object, object>();
  const wrap = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null || !isOwn(value)) return value;
    const known = wrapped.get(value);
    if (known !== undefined) return known;
    const proxy = new Proxy(value, {
      get(object, key) {
        const member: unknown = Reflect.get(object, key, object);
        if (typeof member !== 'function') return wrap(member);
        const method = member as (...args: unknown[]) => unknown;
        return (...args: unknown[]) => {
          const name = String(key);
          if (!DISK_EFFECTS.has(name)) return later(method.apply(object, args));
          return call(name, () => Promise.resolve(method.apply(object, args))).then(wrap);
        };
      },
    });
    wrapped.set(value, proxy);
    return proxy;
  };
  const later = (value: unknown): unknown =>
    value instanceof Promise ? value.then(wrap) : wrap(value);
  return wrap(target) as Target;
}

/** Of what the workspace gives, only what has methods that change something. */
function isOwn(value: object): boolean {
  return ['sessions', 'claim', 'handle', 'recordWriting'].some((name) => name in value);
}
