// `orion serve --open`: the page in the person's browser, and nothing of the link for anybody else (W5).
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect } from 'vitest';

import type { Sandbox } from './support/sandbox.ts';
import { serve, SERVER_TOKEN } from './support/serve.ts';
import { test } from './support/test.ts';
import { waitFor } from './support/wait.ts';

/** A browser that writes down what it was given: its arguments, the file, and its environment. */
async function browser({ root }: Pick<Sandbox, 'root'>): Promise<{
  readonly env: { readonly PATH: string };
  readonly seen: (what: 'args' | 'file' | 'mode' | 'env') => Promise<string>;
}> {
  const folder = join(root, 'browser');
  await mkdir(folder);
  const program = `#!/bin/sh
cd "${folder}"
printf '%s' "$*" > args
env > env
file="\${1#file://}"
ls -l "$file" | cut -c1-10 > mode
cat "$file" > file
touch done
`;
  for (const name of ['xdg-open', 'open']) {
    await writeFile(join(folder, name), program);
    await chmod(join(folder, name), 0o755);
  }
  const read = (name: string): Promise<string | null> =>
    readFile(join(folder, name), 'utf8').catch(() => null);
  return {
    env: { PATH: `${folder}:${process.env['PATH'] ?? ''}` },
    seen: async (what) => {
      await waitFor('the browser', async () => ((await read('done')) === null ? null : true));
      return (await read(what)) ?? '';
    },
  };
}

test.concurrent('leads the browser to a link of its own by a private file, which goes with the server', async ({
  machine,
}) => {
  const { env, seen } = await browser(machine);
  const server = await serve(machine, ['--open'], { env });
  const args = await seen('args');
  expect(args).toMatch(/^file:\/\/\S+\/orion\.html$/u);
  expect(args).not.toMatch(/connect|#|http/u);
  expect((await seen('mode')).trim()).toBe('-rw-------');
  const [, link = ''] = /content="0;url=([^"]+)"/u.exec(await seen('file')) ?? [];
  expect(link).toContain(`${server.url}/connect#`);
  const [, printed] = /^Page: (\S+)/mu.exec(server.running.stderr()) ?? [];
  expect(printed).toContain(`${server.url}/connect#`);
  expect(printed).not.toBe(link);
  expect(await seen('env')).not.toContain(SERVER_TOKEN);
  // Either of them counts, once.
  for (const each of [link, printed ?? '']) {
    const code = each.slice(each.indexOf('#') + 1);
    const use = () => server.ask('/api/page/sessions', { json: { code }, token: null });
    expect((await use()).status).toBeLessThan(300);
    expect((await use()).status).toBe(403);
  }
  server.running.kill('SIGTERM');
  expect((await server.running.finished).exitCode).toBe(0);
  await expect(readFile(args.replace('file://', ''))).rejects.toMatchObject({ code: 'ENOENT' });
});

test.concurrent('serves also where there is no browser, and says so', async ({ machine }) => {
  const server = await serve(machine, ['--open'], { env: { PATH: machine.root } });
  await waitFor('the warning', async () =>
    server.running.stderr().includes('No browser was opened') ? true : null,
  );
  expect(server.running.stderr()).toContain('Open the link above yourself.');
  expect((await server.ask('/health/ready', { token: null })).status).toBe(200);
});
