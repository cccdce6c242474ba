import { createOrion } from '@orion/agent';
import type { Orion, WriteSessions } from '@orion/agent';
import { OrionError } from '@orion/contracts';
import { expect, it, onTestFinished } from 'vitest';

import { temporaryDirectory } from '../testing/test-server.ts';
import { sessionsWith } from './session-owner.ts';

/** Hazard: a client is told that its upload is not there, and begins anew, while a disk does not answer. */

it('asks every project, and says which could not be asked only where no other one has the session', async () => {
  const orion = await createOrion({ workspace: await temporaryDirectory(), store: 'memory' });
  onTestFinished(() => orion.close());
  const away = new OrionError({ code: 'WRITE_FAILED', message: 'the disk is away' });
  const broken = { find: () => Promise.reject(away) } as unknown as WriteSessions;
  const asked = { intent: 't', target_file: 'a.txt', operation: 'create' } as const;
  const { session_id: id } = await orion.writeSessions.begin(asked, {});
  const projects = (...all: readonly WriteSessions[]) => ({
    all: all.map((writeSessions): Orion => ({ ...orion, writeSessions })),
  });
  const empty = { find: orion.writeSessions.find.bind(orion.writeSessions, 'x') };
  const other = empty as unknown as WriteSessions;
  const { writeSessions: sessions } = orion;
  expect(await sessionsWith(projects(sessions, broken, other), id)).toBe(sessions);
  expect(await sessionsWith(projects(other, broken, sessions), id)).toBe(sessions);
  expect(await sessionsWith(projects(other), id)).toBe(other);
  await expect(sessionsWith(projects(other, broken, other), id)).rejects.toBe(away);
});
