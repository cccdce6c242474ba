import type { Attack, AttackOf } from './attack.ts';
import { ANSWERS } from './provider/answers.ts';
import { CALLS } from './provider/calls.ts';
import { CONTENT } from './provider/content.ts';
import { EVENTS } from './provider/events.ts';
import { KEYS } from './provider/keys.ts';
import { PLANS } from './repository/plans.ts';
import { READ_FILES } from './repository/read-files.ts';
import { STATE } from './repository/state.ts';
import { STORES } from './repository/stores.ts';
import { TARGETS } from './repository/targets.ts';
import { USER_ATTACKS, whyNoUserAttacks } from './user-attacks.ts';

export { make, measureHonest } from './campaign.ts';
export type { Verdict } from './campaign.ts';
export { formatVerdict } from './report.ts';
export { OWN_COMMAND } from './site.ts';

const by = (kind: Attack['kind'], ...lists: readonly (readonly AttackOf[])[]): Attack[] =>
  lists.flat().map((attack) => ({ kind, ...attack }));

export const ATTACKS: readonly Attack[] = [
  ...by('provider', ANSWERS, KEYS, EVENTS, CALLS, CONTENT),
  ...by('repository', READ_FILES, STATE, STORES, TARGETS, PLANS),
  ...by('user', USER_ATTACKS),
];

/** Why an attack cannot be made here; null where it can. */
export function whySkipped(attack: Attack): string | null {
  return attack.kind === 'user' ? whyNoUserAttacks() : null;
}
