import type { Attack } from './attack.ts';
import { PROVIDER_ATTACKS } from './provider-attacks.ts';
import { REPOSITORY_ATTACKS } from './repository-attacks.ts';
import { USER_ATTACKS, whyNoUserAttacks } from './user-attacks.ts';

export { make, measureHonest } from './campaign.ts';
export type { Verdict } from './campaign.ts';
export { formatVerdict } from './report.ts';
export { OWN_COMMAND } from './site.ts';

export const ATTACKS: readonly Attack[] = [
  ...PROVIDER_ATTACKS,
  ...REPOSITORY_ATTACKS,
  ...USER_ATTACKS,
];

/** Why an attack cannot be made here; null where it can. */
export function whySkipped(attack: Attack): string | null {
  return attack.kind === 'user' ? whyNoUserAttacks() : null;
}
