import { checkClock } from './clock.ts';
import { checkDocs } from './docs.ts';
import { checkDocumented } from './documented.ts';
import { checkLongTests } from './long-tests.ts';
import { checkManifests } from './manifests.ts';
import { checkRules } from './rules.ts';
import type { Finding, Repository } from './repository.ts';
import { checkSelfContained } from './self-contained.ts';

export { openRepository, type Finding, type Repository } from './repository.ts';

const checks = [
  checkManifests,
  checkClock,
  checkSelfContained,
  checkDocs,
  checkDocumented,
  checkRules,
  checkLongTests,
];

export function runChecks(repository: Repository): Finding[] {
  return checks.flatMap((check) => check(repository));
}
