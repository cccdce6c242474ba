/** Hazard: a protected file that a command made stays where it is, and the text reads as if it had been moved. */
import type { ProtectedChange } from '@orion/contracts';
import { expect, it } from 'vitest';

import { protectedFacts, protectedSentence } from './protected-facts.ts';

const CHANGES: readonly ProtectedChange[] = [
  { path: '.npmrc', change: 'created', movedTo: '.orion/set_aside/1/.npmrc', restored: false },
  { path: '.vscode', change: 'created', movedTo: null, restored: false },
  { path: '.git', change: 'removed', movedTo: null, restored: true },
];

it('says what was left where it is, if it was to be moved', () => {
  const facts = protectedFacts(CHANGES, true);
  expect(facts.protected_changes).toEqual([
    { path: '.npmrc', change: 'created', moved_to: '.orion/set_aside/1/.npmrc' },
    { path: '.vscode', change: 'created', left_in_place: true },
    { path: '.git', change: 'removed', restored: true },
  ]);
  expect(protectedSentence(facts)).toBe(
    'Protected paths: .npmrc (created, moved to .orion/set_aside/1/.npmrc), ' +
      '.vscode (created, left where it is), .git (removed, restored).',
  );
});

it('says nothing of it without a sandbox, where nothing is moved', () => {
  const facts = protectedFacts(CHANGES.slice(1, 2), false);
  expect(facts.protected_changes).toEqual([{ path: '.vscode', change: 'created' }]);
  expect(protectedSentence(facts)).toBe('Protected paths: .vscode (created).');
});
