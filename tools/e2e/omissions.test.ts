import { describe, expect } from 'vitest';

import { prompts } from './support/requests.ts';
import { numbered, writeMessages } from './support/scripts.ts';
import { longTest, test } from './support/test.ts';
import { waitFor } from './support/wait.ts';

const OLD = `${numbered('const value', 1, 40)}// unchanged\n`;
const SHORT = `const first = 1;\n// ... rest of the code unchanged\nconst last = 2;\n`;
const WHOLE = `const first = 1;\n${OLD}const last = 2;\n`;
const OVERWRITE = { operation: 'overwrite' };

describe('R249: a file that is replaced by one that leaves parts out', () => {
  longTest(
    'AGAIN: the model writes all of it, and what it wrote first is kept aside',
    async ({ machine }) => {
      await machine.write('a.ts', OLD);
      const provider = await machine.provider(
        writeMessages('a.ts', [`${SHORT}DONE`, 'AGAIN', `${WHOLE}DONE`], OVERWRITE),
      );
      const ended = await machine.ask(provider, ['--json']);
      expect(ended.exitCode, ended.stderr).toBe(0);
      expect(String(await machine.read('a.ts'))).toBe(WHOLE);
      const [question, request] = prompts(provider.requests);
      expect(question).toContain('2: // ... rest of the code unchanged');
      expect(request).toContain('Write the complete content of a.ts now');
      const receipt = ended.result().receipts[0];
      // The line that the old file had too is no omission.
      expect(receipt?.validation_summary.omission_suspected).toBeUndefined();
      expect(
        String(await machine.read(receipt?.trailing?.slice(machine.workspace.length + 1) ?? '')),
      ).toBe(SHORT);
      const rewinds = ended.events().filter((event) => event.type === 'write_rewind');
      expect(rewinds).toMatchObject([{ toOffset: 0 }]);
    },
  );

  longTest('KEEP: written as it is, and the receipt says where to look', async ({ machine }) => {
    await machine.write('a.ts', OLD);
    const provider = await machine.provider(
      writeMessages('a.ts', [`${SHORT}DONE`, 'KEEP'], OVERWRITE),
    );
    const ended = await machine.ask(provider);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(String(await machine.read('a.ts'))).toBe(SHORT);
    expect(prompts(provider.requests)).toHaveLength(1);
    expect(ended.stderr).toContain('something may be left out at line 2');
  });

  test.concurrent('no answer: the old file stays, and a person decides', async ({ machine }) => {
    await machine.write('a.ts', OLD);
    const provider = await machine.provider(
      writeMessages('a.ts', [`${SHORT}DONE`, `${WHOLE}DONE`], OVERWRITE),
    );
    const ended = await machine.ask(provider, ['--json']);
    expect(ended.exitCode, ended.stderr).toBe(3);
    expect(String(await machine.read('a.ts'))).toBe(OLD);
    const [paused] = ended.result().paused;
    expect(paused?.commands).toContainEqual(expect.stringContaining('--finalize --answer keep'));
    const id = paused?.session_id ?? '';
    const refused = await machine.run(['recover-session', id, '--finalize']);
    expect(refused.stderr).toContain(
      'orion: QUESTION_OPEN: First decide whether text was left out of a.ts at line 2: add --answer keep.\n',
    );
    const kept = await machine.run(['recover-session', id, '--finalize', '--answer', 'keep']);
    expect(kept.exitCode, kept.stderr).toBe(0);
    expect(String(await machine.read('a.ts'))).toBe(SHORT);
  });

  longTest(
    '--allow-omissions asks nothing; a new file is never asked about',
    async ({ machine }) => {
      await machine.write('a.ts', OLD);
      const allowed = await machine.provider(writeMessages('a.ts', [`${SHORT}DONE`], OVERWRITE));
      const ended = await machine.ask(allowed, ['--allow-omissions', '--json']);
      expect(ended.exitCode, ended.stderr).toBe(0);
      expect(prompts(allowed.requests)).toEqual([]);
      expect(ended.result().receipts[0]?.validation_summary.omission_suspected).toEqual([2]);

      const created = await machine.provider(writeMessages('b.ts', [`${SHORT}DONE`]));
      const made = await machine.ask(created, ['--json']);
      expect(made.exitCode, made.stderr).toBe(0);
      expect(prompts(created.requests)).toEqual([]);
      expect(made.result().receipts[0]?.validation_summary.omission_suspected).toBeUndefined();
    },
  );

  longTest('a block that is replaced by a model’s edit is looked at too', async ({ machine }) => {
    await machine.write('a.ts', `// begin\n${OLD}// end\n`);
    const location = { start_marker: '// begin', end_marker: '// end' };
    const provider = await machine.provider(
      writeMessages('a.ts', [`${SHORT}DONE`, 'AGAIN', 'const all = 1;\nDONE'], {
        operation: 'replace',
        begin: { location },
      }),
    );
    const ended = await machine.ask(provider);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(String(await machine.read('a.ts'))).toBe('// begin\nconst all = 1;\n// end\n');
    expect(prompts(provider.requests)[0]).toContain('replaces a block of a.ts');
  });

  longTest(
    'killed while it is written anew: the new text continues, the old one is put aside',
    async ({ machine }) => {
      await machine.write('a.ts', OLD);
      const provider = await machine.provider({
        shape: { chunk: 5 },
        behaviours: [
          ...writeMessages('a.ts', [`${SHORT}DONE`, 'AGAIN'], OVERWRITE)
            .behaviours.filter(({ name }) => name?.startsWith('message') === true)
            .map((behaviour) => ({ ...behaviour, times: 1 })),
          {
            name: 'stalls',
            when: { toolChoice: 'none' },
            times: 1,
            reply: { text: `${WHOLE}DONE` },
            faults: [{ kind: 'stall', at: { lines: 20 } }],
          },
          {
            name: 'the rest',
            when: { toolChoice: 'none' },
            reply: { text: `${WHOLE}DONE` },
          },
          ...writeMessages('a.ts', ['unused'], OVERWRITE).behaviours.slice(1),
        ],
      });
      const command = machine.startAsking(provider, [], { env: { WRITE_SESSION_SAVE_LINES: '5' } });
      const saved = numbered('const value', 1, 15).length;
      await waitFor('saved text in the new file', async () => {
        const [session] = await machine.sessions();
        const state = await session?.json('state.json');
        if (state?.['content_file'] !== 'content.2.txt') return null;
        return Number(state['buffer_size']) > saved ? true : null;
      });
      command.kill('SIGKILL');
      await command.finished;
      const [session] = await machine.sessions();
      const recovered = await machine.run(['recover-session', session?.id ?? '', '--json']);
      expect(recovered.exitCode, recovered.stderr).toBe(0);
      expect(String(await machine.read('a.ts'))).toBe(WHOLE);
      // The restart is recognised, and no question is asked a second time.
      expect(recovered.result().receipts[0]?.seams).toMatchObject([{ status: 'verified' }]);
    },
  );
});
