import type { Workspace } from '@orion/contracts';

/** A folder without files, for turns that only talk. Whatever such a turn does not need throws. */
export function noWorkspace(): Workspace {
  const refused: never[] = [];
  const known = {
    root: '/simulated',
    stateDirectory: '/simulated/.orion',
    maxTargetBytes: 0,
    listFiles: () => Promise.resolve({ files: [], truncated: false, refused }),
    readInstructions: () => Promise.resolve({ instructions: null, refused }),
    textList: () => ({}),
    sessions: { list: () => Promise.resolve([]), housekeep: () => Promise.resolve() },
    close: () => Promise.resolve(),
  };
  return new Proxy(known, {
    get(target, name) {
      if (name in target) return Reflect.get(target, name) as unknown;
      if (typeof name === 'symbol' || name === 'then') return undefined;
      return () => {
        throw new Error(`A turn that only talks needs no ${name}`);
      };
    },
  }) as unknown as Workspace;
}
