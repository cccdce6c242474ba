import type { ApprovalAction, FileDiff, ProposedChange } from '@orion/contracts';
import { expect, test } from 'vitest';

import { shownPart } from './shown-part.ts';

const change: ProposedChange = {
  target_file: 'a.txt',
  real_path: '/a.txt',
  operation: 'create',
  before: null,
  after: { bytes: 1, sha256: '' },
  crlf: false,
  hard_link: false,
  protected: false,
};
const write = (files: number): ApprovalAction => ({
  kind: 'write',
  intent: '',
  changes: Array.from({ length: files }, () => change),
});
const shown = (diff: string | null, cut = false): FileDiff => ({ target_file: 'a.txt', diff, cut });

test('a write is shown whole when each of its files is', () => {
  for (const [files, diffs, part] of [
    [1, [shown('+a')], 'whole'],
    [2, [shown('+a'), shown('')], 'whole'],
    [2, [shown('+a'), shown('+b', true)], 'beginning'],
    [2, [shown('+a', true), shown(null)], 'nothing'],
    [2, [shown('+a')], 'nothing'],
    [1, [], 'nothing'],
  ] as const)
    expect([diffs, shownPart({ action: write(files), diffs })]).toEqual([diffs, part]);
});

test('a command has nothing else to show', () => {
  const action = { kind: 'command', command: 'touch a', folder: '/' } as const;
  expect(shownPart({ action, diffs: [] })).toBe('whole');
});
