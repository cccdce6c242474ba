import { visibleName } from '@orion/contracts';
import type { ProtectedChange } from '@orion/contracts';

/** A command may change more than anybody reads. */
const MAX_SHOWN = 20;
/** Of one line for the user. */
const MAX_NAMED = 3;

/** What a command did to protected paths, for the model. */
export type ProtectedFacts = {
  readonly protected_changes?: readonly {
    readonly path: string;
    readonly change: ProtectedChange['change'];
    readonly moved_to?: string;
    readonly left_in_place?: true;
    readonly restored?: true;
  }[];
  readonly more_protected_changes?: number;
  readonly protected_hint?: string;
};

/** `undone`: whether what is new was to be moved away. */
export function protectedFacts(
  changes: readonly ProtectedChange[],
  undone: boolean,
): ProtectedFacts {
  if (changes.length === 0) return {};
  const more = changes.length - MAX_SHOWN;
  return {
    protected_changes: changes.slice(0, MAX_SHOWN).map(({ path, change, movedTo, restored }) => ({
      path,
      change,
      ...(movedTo === null ? {} : { moved_to: movedTo }),
      ...(undone && movedTo === null && change !== 'removed' ? { left_in_place: true } : {}),
      ...(restored ? { restored } : {}),
    })),
    ...(more > 0 ? { more_protected_changes: more } : {}),
    protected_hint:
      'These paths are protected. Do not change them in another way: ask the user, who can allow them or run the command.',
  };
}

/** The same for the user; empty where nothing was changed. */
export function protectedSentence(facts: ProtectedFacts): string {
  const { protected_changes: changes = [], more_protected_changes: unlisted = 0 } = facts;
  if (changes.length === 0) return '';
  const named = changes.slice(0, MAX_NAMED).map((each) => {
    const { path, change, moved_to: movedTo, left_in_place: isLeft, restored } = each;
    const fates = [
      change,
      ...(movedTo === undefined ? [] : [`moved to ${movedTo}`]),
      ...(isLeft === true ? ['left where it is'] : []),
      ...(restored === true ? ['restored'] : []),
    ];
    return visibleName(`${path} (${fates.join(', ')})`);
  });
  const more = changes.length - named.length + unlisted;
  return `Protected paths: ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`;
}
