import type { Orion } from '@orion/agent';
import { expect, test } from 'vitest';

import { requireLocalSessions } from './local-sessions.ts';

function project(
  sharesSessions: boolean,
  found: string | null,
): Pick<Orion, 'sharesSessions' | 'serverFiles' | 'stateDirectory'> {
  const serverFiles = { networkFileSystem: () => Promise.resolve(found) } as Orion['serverFiles'];
  return { sharesSessions, stateDirectory: '/w/.orion', serverFiles };
}

test('directories of sessions on a network file system are refused, with what to set instead', async () => {
  const all = [project(false, null), project(false, 'NFS')];
  await expect(requireLocalSessions({ all })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining('/w/.orion is on a network file system (NFS)') as string,
    hint: expect.stringContaining('ORION_SESSIONS=database') as string,
  });
});

test('sessions in the database need no disk of this machine', async () => {
  await requireLocalSessions({ all: [project(true, 'NFS'), project(false, null)] });
});
