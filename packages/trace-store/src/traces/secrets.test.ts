import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TraceStore } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { expect, test } from 'vitest';
import { openPostgres } from '../engine/postgres.ts';
import { openSqlite } from '../engine/sqlite.ts';
import { migrate } from '../migrations/migrate.ts';
import { useTestDatabase } from '../testing/test-database.ts';
import { createSqlTraceStore } from './sql-trace-store.ts';

const own = useTestDatabase();

/** Put together here, so that nobody who searches this repository for secrets finds one. */
const body = 'Canary0123456789abcdefABCDEF0123456789';
const hidden = (number: number): string => `c4nary${number}x${body}`;

/** The secret, and a text in which it stands. */
const CANARIES: readonly (readonly [secret: string, text: string])[] = [
  ['sk', `sk-${hidden(1)}`],
  ['sk-proj', `sk-proj-${hidden(2)}`],
  ['sk-ant', `sk-ant-api03-${hidden(3)}`],
  ['a bearer header', `Authorization: Bearer ${hidden(4)}`],
  ['basic credentials', `Authorization: Basic ${hidden(5)}==`],
  ['another scheme', `Authorization: Token ${hidden(6)}`],
  ['a header of a key', `x-api-key: ${hidden(7)}`],
  ['a cookie', `Cookie: session=${hidden(8)}; theme=dark`],
  ['a cookie that is set', `Set-Cookie: id=${hidden(9)}; Path=/`],
  ['a URL with a password', `postgres://orion:${hidden(10)}@db.example:5432/orion`],
  ['a URL with a key', `https://api.example/v1?api_key=${hidden(11)}&x=1`],
  ['an environment', `OPENAI_API_KEY=${hidden(12)}`],
  ['a password of .env', `DB_PASSWORD="${hidden(13)}"`],
  ['JSON in a text', JSON.stringify({ access_token: hidden(14) })],
  ['JSON in JSON', JSON.stringify(JSON.stringify({ client_secret: hidden(15) }))],
  ['a code host', `ghp_${hidden(16)}`],
  ['a fine-grained code host', `github_pat_${hidden(17)}`],
  ['another code host', `glpat-${hidden(18)}`],
  ['a chat', `xoxb-${hidden(19)}`],
  ['a package registry', `npm_${hidden(20)}`],
  ['another package registry', `pypi-${hidden(21)}`],
  ['a model hub', `hf_${hidden(22)}`],
  ['a model host', `gsk_${hidden(23)}`],
  ['payments', `sk_live_${hidden(24)}`],
  ['a web hook', `whsec_${hidden(25)}`],
  ['a chat hook', `https://hooks.slack.com/services/T00/B00/${hidden(26)}`],
  ['mail', `SG.${hidden(27)}.${hidden(27)}`],
  ['a signed token', `eyJ${hidden(28)}.${hidden(28)}.${hidden(28)}`],
  [
    'a private key',
    `-----BEGIN RSA PRIVATE KEY-----\n${hidden(29)}\n${hidden(29)}\n-----END RSA PRIVATE KEY-----`,
  ],
  ['a bot', `123456789:AA${hidden(30)}`],
  ['an API key of a search', `AIza${hidden(31)}`],
];
const CLOUD_KEY = `AKIA${'C4NARYC4NARYC4NA'}`;

function recordAll(store: TraceStore): void {
  const error = new Error(`refused: ${CANARIES.map(([, text]) => text).join(' ')}`);
  for (const [name, text] of [...CANARIES, ['a cloud', CLOUD_KEY] as const]) {
    store.record({
      type: 'canary',
      summary: `${name}: ${text}`,
      toolName: text,
      source: text,
      details: { prompt: `use ${text} now`, list: [text], [text]: 1, nested: { a: { b: text } } },
      error: Object.assign(new Error(text, { cause: text }), { stack: `Error: ${text}\n  at x` }),
      metadata: text,
    });
  }
  // Under a key, without anything in the value that would tell.
  store.record('canary', {
    headers: { authorization: hidden(40), 'X-Api-Key': hidden(41), cookie: [hidden(42)] },
    env: { GITHUB_TOKEN: hidden(43), db: { password: hidden(44) } },
    pairs: [['authorization', hidden(45)]],
    error,
  });
}

const CANARY = /c4nary\d+x|C4NARYC4NARY/gi;

test('none of 20 kinds of secrets is in the file of SQLite, whatever it stood in (B19)', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'orion-secrets-'));
  try {
    const database = await openSqlite(join(folder, 'store.db'));
    await migrate(database);
    const store = createSqlTraceStore(database, { clock: createFakeClock(), createId: () => 'w' });
    recordAll(store);
    await store.flush();
    const count = async (): Promise<string[]> => {
      const found: string[] = [];
      for (const name of await readdir(folder)) {
        const bytes = await readFile(join(folder, name), 'latin1');
        found.push(...(bytes.match(CANARY) ?? []));
      }
      return [...new Set(found)];
    };
    // The log beside the file still holds everything as it was written.
    expect(await count()).toEqual([]);
    expect(await store.query({})).toHaveLength(CANARIES.length + 2);
    await store.close();
    await database.close();
    expect(await count()).toEqual([]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('nor in any column of Postgres', async () => {
  const database = await openPostgres(own.url());
  try {
    await migrate(database);
    const store = createSqlTraceStore(database, { clock: createFakeClock(), createId: () => 'w' });
    recordAll(store);
    await store.close();
    const rows = await database.all('select trace_event::text as whole from trace_event');
    expect(rows).toHaveLength(CANARIES.length + 2);
    expect(rows.flatMap((row) => String(row['whole']).match(CANARY) ?? [])).toEqual([]);
    expect(String(rows[0]?.['whole'])).toContain('[REDACTED]');
  } finally {
    await database.close();
  }
});
