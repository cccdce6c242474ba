import { randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describeWorkspaceContract } from '@orion/testkit';
import { openTestWorkspace } from './testing/temp-workspace.ts';

describeWorkspaceContract('on disk', async () => {
  const { root, workspace, again } = await openTestWorkspace();
  return {
    workspace,
    read: (path) => readFile(join(root, path), 'utf8').catch(() => null),
    write: async (path, text) => {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text);
    },
    createId: randomUUID,
    reopen: () => again(),
  };
});
