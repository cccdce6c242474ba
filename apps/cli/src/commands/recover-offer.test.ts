import type { Orion, RecoverChoice } from '@orion/agent';
import type { SessionListing } from '@orion/contracts';
import { describe, expect, it, vi } from 'vitest';

import { createFakeContext } from '../testing/fake-context.ts';
import { offerRecovery } from './recover-offer.ts';

function listing(
  id: string,
  minutes: number,
  change: Partial<SessionListing> = {},
): SessionListing {
  return {
    session_id: id,
    status: 'orphan',
    state: 'session_active.awaiting_content',
    target_file: `${id}.txt`,
    operation: 'create',
    intent: 'x',
    age_ms: minutes * 60_000,
    lines: 30,
    bytes: 210,
    saved_bytes: 210,
    seams: [],
    session_dir: `/w/${id}`,
    recoverable: true,
    ...change,
  };
}

const SESSIONS = [
  listing('older', 20),
  listing('rows', 10),
  listing('alive', 1, { status: 'live', pid: 7, recoverable: false }),
  listing('stale', 90, { recoverable: false }),
  listing('broken', 2, { status: 'damaged', recoverable: false }),
];

type Result = {
  readonly recovered: string | null;
  readonly told: string;
  readonly discarded: readonly string[];
};

async function offer(
  choice: RecoverChoice,
  typed: readonly string[] = [],
  sessions: readonly SessionListing[] = SESSIONS,
): Promise<Result> {
  const context = createFakeContext({ terminal: true });
  const discarded: string[] = [];
  const orion = {
    listSessions: (which?: string) =>
      Promise.resolve(sessions.filter(({ recoverable }) => which === 'all' || recoverable)),
    describeSession: (session: SessionListing) => ({
      commands: [`orion recover-session ${session.session_id}`],
    }),
    discardSession: (id: string) => {
      discarded.push(id);
      return Promise.resolve({ attic: `/w/attic/${id}` });
    },
  } as unknown as Orion;
  const { signal } = new AbortController();
  const offered = offerRecovery({ context, orion, choice, signal, place: '' });
  for (const line of typed) {
    const asked = context.stderr.written().split('(Y/n)').length;
    await vi.waitFor(() => {
      expect(context.stderr.written().split('(Y/n)').length).toBeGreaterThan(
        Math.max(1, asked - 1),
      );
    });
    if (line === 'EOF') context.typed.end();
    else context.typed.write(`${line}\n`);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { recovered: await offered, told: context.stderr.written(), discarded };
}

describe('what was interrupted is offered first', () => {
  it('asks with target, operation, age and lines, newest first; Enter is yes (R061)', async () => {
    const { recovered, told, discarded } = await offer('ask', ['']);
    expect(told).toMatch(
      /^Interrupted: rows\.txt \(create\), 30 lines, 10 min ago\.\nRecover previous write session\? \(Y\/n\) /u,
    );
    expect(recovered).toBe('rows');
    expect(told).toContain('Continue with: orion recover-session older');
    expect(told).not.toMatch(/alive|stale|broken/u);
    expect(discarded).toEqual([]);
  });

  it('moves what is declined to the attic and asks for the next (R066)', async () => {
    const { recovered, discarded, told } = await offer('ask', ['n', 'y']);
    expect(discarded).toEqual(['rows']);
    expect(told).toContain('/w/attic/rows');
    expect(recovered).toBe('older');
  });

  it('keeps what is put off, and asks again after an answer that it does not know', async () => {
    const { recovered, discarded, told } = await offer('ask', ['perhaps', 'l', 'later']);
    expect(recovered).toBeNull();
    expect(discarded).toEqual([]);
    expect(told.match(/\(Y\/n\)/gu)).toHaveLength(3);
  });

  it('takes the end of the input for later: nothing is moved without a word', async () => {
    const { recovered, discarded } = await offer('ask', ['EOF'], [listing('rows', 1)]);
    expect(recovered).toBeNull();
    expect(discarded).toEqual([]);
  });

  it('takes the newest with `yes` and names the others (R068)', async () => {
    const { recovered, told } = await offer('yes');
    expect(recovered).toBe('rows');
    expect(told).toContain('older.txt');
    expect(told).not.toContain('(Y/n)');
  });

  it('only lists them with `no`', async () => {
    const { recovered, told } = await offer('no');
    expect(recovered).toBeNull();
    expect(told.split('\n').filter((line) => line.includes('orion recover-session'))).toHaveLength(
      2,
    );
  });

  it.each(['ask', 'no'] as const)('says nothing with `%s` when there is none', async (choice) => {
    expect(await offer(choice, [], SESSIONS.slice(2))).toEqual({
      recovered: null,
      told: '',
      discarded: [],
    });
  });

  it('ends when the person interrupts the question', async () => {
    const context = createFakeContext({ terminal: true });
    const controller = new AbortController();
    const orion = { listSessions: () => Promise.resolve([listing('rows', 1)]) } as unknown as Orion;
    const offered = offerRecovery({
      context,
      orion,
      choice: 'ask',
      signal: controller.signal,
      place: '',
    });
    const refused = expect(offered).rejects.toMatchObject({ code: 'ABORTED' });
    await vi.waitFor(() => {
      expect(context.stderr.written()).toContain('(Y/n)');
    });
    controller.abort();
    await refused;
  });
});
