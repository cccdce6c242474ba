import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';

import { numbered, writeDocument } from './support/scripts.ts';
import { test } from './support/test.ts';

const KEY = 'sk-e2e-0123456789abcdefghij';
const OTHER = 'sk-e2e-other-0123456789abcdefghij';
const TEXT = numbered('const value', 1, 40);

for (const [type, variable, tags] of [
  ['openai', 'OPENAI_API_KEY', ['long']],
  ['openai-responses', 'OPENAI_API_KEY', ['long']],
  ['anthropic', 'ANTHROPIC_API_KEY', []],
] as const) {
  const title = `R048, R222: the key of ${type} reaches the provider, and neither the disk nor the outputs`;
  test.concurrent(title, { tags: [...tags] }, async ({ machine }) => {
    const provider = await machine.provider({
      ...writeDocument(
        { target: 'a.ts', content: TEXT },
        { faults: [{ kind: 'stall', reply: 1, at: { lines: 20 } }] },
      ),
      apiKey: KEY,
    });
    // The key of another provider must not be used here.
    const env = { OPENAI_API_KEY: OTHER, ANTHROPIC_API_KEY: OTHER, [variable]: KEY };
    const options = ['--json', '--verbose', '--provider', type];
    const { session, killed } = await machine.askUntilKilled(provider, 200, options, env);
    expect(await session.json('turn.json')).toMatchObject({
      provider: type,
      model: 'scripted',
      baseUrl: provider.url,
      mode: 'act',
    });

    const files = await readdir(machine.root, { recursive: true, withFileTypes: true });
    for (const file of files.filter((entry) => entry.isFile())) {
      const text = await readFile(join(file.parentPath, file.name), 'utf8');
      expect(text.includes(KEY) || text.includes(OTHER), file.name).toBe(false);
    }

    const without = await machine.run(['recover-session', session.id, '--verbose']);
    expect(without.exitCode, without.stderr).toBe(3);
    expect(without.stderr).toContain(
      'The provider did not accept the credentials (HTTP 401): Incorrect API key provided.',
    );
    const ended = await machine.run(['recover-session', session.id, '--verbose'], { env });
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(String(await machine.read('a.ts'))).toBe(TEXT);
    for (const one of [killed, without, ended]) expect(one.stdout + one.stderr).not.toContain(KEY);
  });
}
