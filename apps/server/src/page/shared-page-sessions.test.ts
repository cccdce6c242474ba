import { createOrion } from '@orion/agent';
import type { OrionOptions } from '@orion/agent';
import { systemClock } from '@orion/contracts';
import type { PageSessionAnswer } from '@orion/contracts';
import { describe, expect, it, onTestFinished } from 'vitest';

import { makeDatabase } from '../testing/test-database.ts';
import { temporaryDirectory } from '../testing/test-server.ts';
import { PageSessions } from './page-sessions.ts';

/** Hazard: of what two servers change at the same time about log-ins, one change is lost. */

/** Each is a chance to meet. A server refuses any link after five wrong ones in a minute. */
const ROUNDS = 4;

const bearerOf = ({ id, key }: PageSessionAnswer): string => `${id}.${key}`;

/** Makes servers that share a folder and what is stored. */
async function servers(options: Partial<OrionOptions>): Promise<() => Promise<PageSessions>> {
  const workspace = await temporaryDirectory();
  return async () => {
    const orion = await createOrion({ workspace, ...options });
    onTestFinished(() => orion.close());
    const { serverFiles } = orion;
    return new PageSessions({
      token: 'a token of the server',
      clock: systemClock,
      access: await serverFiles.readPageAccess(),
      read: () => serverFiles.readPageAccess(),
      update: (change) => serverFiles.updatePageAccess(change),
    });
  };
}

describe.each([
  ['a file', () => Promise.resolve<Partial<OrionOptions>>({ store: 'memory' })],
  [
    'rows',
    async () => ({
      settings: { databaseUrl: await makeDatabase(), sessions: 'database' as const },
    }),
  ],
])('two servers with the log-ins in %s', (_what, optionsOf) => {
  it('both end a session', async () => {
    const open = await servers(await optionsOf());
    const [one, other] = [await open(), await open()];
    for (let round = 0; round < ROUNDS; round += 1) {
      const both = [one.create(), one.create()] as const;
      await Promise.all([one.end(both[0].id), other.end(both[1].id)]);
      const third = await open();
      expect(both.map((each) => third.accepts(bearerOf(each)))).toEqual([false, false]);
    }
  });

  it('take a link once', async () => {
    const open = await servers(await optionsOf());
    const all = [await open(), await open()];
    for (let round = 0; round < ROUNDS; round += 1) {
      const code = all[0]?.makeCode() ?? '';
      const outcomes = await Promise.allSettled(all.map((each) => each.redeem(code)));
      const refused = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
      expect(refused).toMatchObject([{ code: 'PAGE_LINK_USED' }]);
    }
  });

  it('end everything, and one session', async () => {
    const open = await servers(await optionsOf());
    const [one, other] = [await open(), await open()];
    for (let round = 0; round < ROUNDS; round += 1) {
      const [all, alone] = [one.create(), one.create()];
      await Promise.all([one.endAll(), other.end(alone.id)]);
      const third = await open();
      expect([all, alone].map((each) => third.accepts(bearerOf(each)))).toEqual([false, false]);
      expect(third.accepts(bearerOf(one.create()))).toBe(true);
    }
  });
});
