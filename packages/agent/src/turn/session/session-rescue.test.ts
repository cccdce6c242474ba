import type { SaveResult, SessionHandle } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { SESSION_RECORD } from '@orion/testkit/records';
import { expect, it } from 'vitest';

import type { SessionReport } from './session-report.ts';
import { sessionRescue, type SessionRescue } from './session-rescue.ts';
import { sessionSaver } from './session-saver.ts';

/** Hazard: a session that lives in memory leaves the process, and its text with it. */

const RECORD = { ...SESSION_RECORD, state: 'session_active.paused', has_ended: false } as const;

/** A session in memory mode, whose next save goes as `save` says. */
function rescueWith(save: () => Promise<void>): {
  readonly rescue: SessionRescue;
  readonly told: string[];
} {
  const told: string[] = [];
  let persistence: 'disk' | 'memory' = 'memory';
  const handle = {
    directory: '/ws/.orion/session',
    lost: new AbortController().signal,
    bytes: () => 4,
    persistence: () => persistence,
    save: async (): Promise<SaveResult> => {
      await save();
      persistence = 'disk';
      return { durableBytes: 4, persistence };
    },
    rescue: async () => '/tmp/orion-x/content.txt',
  } as unknown as SessionHandle;
  const saver = sessionSaver(handle, 0, createFakeClock(), {
    saved: () => told.push('saved'),
    failed: (error) => told.push(`failed: ${(error as Error).message}`),
  });
  const report = {
    notice: (message: string) => told.push(message),
    trace: () => undefined,
  } as unknown as SessionReport;
  return { rescue: sessionRescue(handle, saver, report), told };
}

it('R279: it is saved in its own place once more, and only then elsewhere', async () => {
  const { rescue, told } = rescueWith(async () => undefined);
  await rescue.text(RECORD);
  expect(told).toEqual(['saved']);
  expect(rescue.place()).toEqual({ directory: '/ws/.orion/session', rescuedText: null });
  await rescue.text(RECORD);
  expect(told).toEqual(['saved']);
});

it('R279: where that does not go, the reason is told before the place', async () => {
  const { rescue, told } = rescueWith(async () => {
    throw new Error('no space left');
  });
  await rescue.text(RECORD);
  expect(told).toEqual([
    'failed: no space left',
    'The session could not be saved in its own place; all of its text is in /tmp/orion-x/content.txt.',
  ]);
  expect(rescue.place().rescuedText).toBe('/tmp/orion-x/content.txt');
});
