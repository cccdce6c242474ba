/** A server and its page, with what may lie between them. */
import type { Browser, Page } from 'playwright-core';
import type { Script, ScriptedProvider } from '@orion/llm-adapters/scripted';

import { openPage, pageLink } from '../../support/browser.ts';
import type { PageOptions, WatchedPage } from '../../support/browser.ts';
import { at } from '../../support/sandbox.ts';
import type { Sandbox } from '../../support/sandbox.ts';
import { serve } from '../../support/serve.ts';
import type { ServedProcess } from '../../support/serve.ts';
import type { PageProxy } from './page-proxy.ts';

export type ServedPage = {
  readonly provider: ScriptedProvider;
  /** To start the server again. */
  readonly args: readonly string[];
  readonly server: ServedProcess;
  readonly watched: WatchedPage;
  readonly page: Page;
};

/** With a fake clock, time on the page, and everything that waits on it, is moved by `page.clock`. */
export type PageSurroundings = PageOptions & {
  /** Between the browser and the server. */
  readonly proxy?: PageProxy;
  /** Further options of the server. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
};

export async function openServed(
  machine: Sandbox,
  browser: Browser,
  script: Script,
  { proxy, args: more = [], env = {}, ...options }: PageSurroundings = {},
): Promise<ServedPage> {
  const provider = await machine.provider(script);
  const names = proxy === undefined ? [] : ['--allow-host', `127.0.0.1:${proxy.port}`];
  const args = [...at(provider), ...names, ...more];
  const server = await serve(machine, args, { env });
  proxy?.leadTo(server.port);
  const link = new URL(pageLink(server));
  if (proxy !== undefined) link.port = String(proxy.port);
  const watched = await openPage(browser, link.href, options);
  return { provider, args, server, watched, page: watched.page };
}
