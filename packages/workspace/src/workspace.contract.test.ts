import { randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describeSessionStoreContract, describeWorkspaceContract } from '@orion/testkit';
import { ownIdentity } from './ownership/process-identity.ts';
import { openTestWorkspace } from './testing/temp-workspace.ts';

type Opened = Awaited<ReturnType<typeof openTestWorkspace>>;

describeWorkspaceContract('on disk', async () => underTest(await openTestWorkspace()));

describeSessionStoreContract('on disk', async ({ isDoomed = false } = {}) => {
  const gone = async (): ReturnType<typeof ownIdentity> => ({
    ...(await ownIdentity()),
    startedAt: 'gone',
  });
  return underTest(await openTestWorkspace(isDoomed ? { identity: gone } : {}));
});

function underTest({ root, workspace, again }: Opened): ReturnTypeOfFactory {
  return {
    workspace,
    read: (path: string) => readFile(join(root, path), 'utf8').catch(() => null),
    write: async (path: string, text: string) => {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text);
    },
    createId: randomUUID,
    reopen: () => again({ identity: ownIdentity }),
  };
}

type ReturnTypeOfFactory = Awaited<ReturnType<Parameters<typeof describeWorkspaceContract>[1]>>;
