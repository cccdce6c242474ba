/** A page whose server answers what a test says: for states that a real one is in rarely, or for a moment. */
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { Browser, Page } from 'playwright-core';
import type { ErrorCode, HttpErrorBody, RunEventBody } from '@orion/contracts';
import { onTestFinished } from 'vitest';

import { openPage, pageLink } from '../../support/browser.ts';
import type { Sandbox } from '../../support/sandbox.ts';
import { serve } from '../../support/serve.ts';
import type { ServedProcess } from '../../support/serve.ts';

export type ToldPage = {
  readonly page: Page;
  readonly server: ServedProcess;
  /** Opens a path anew, with these answers and no others; what is not told, the server answers. */
  readonly open: (path: string, told?: Told) => Promise<void>;
  /** From the next question on. */
  readonly tell: (told: Told) => void;
};

/** Answers by path, with the query where there is one. */
export type Told = Readonly<Record<string, Answer>>;

/** A text is sent as it is. */
export type Answer = object | string | Refusal | typeof SILENCE | TurnSoFar;

/** The question stays open. */
export const SILENCE = Symbol('silence');

class Refusal {
  readonly status: number;
  readonly body: HttpErrorBody;

  constructor(status: number, body: HttpErrorBody) {
    this.status = status;
    this.body = body;
  }
}

export function refusal(code: ErrorCode, message: string, hint: string, status = 503): Refusal {
  return new Refusal(status, { error: { code, message, hint } });
}

/** The events of a turn. Without a `done`, more may come, and does only by `goOn`. */
class TurnSoFar {
  readonly #turnId: string;
  readonly #readers = new Set<ServerResponse>();
  #lastSeq = 0;
  #frames = '';

  constructor(turnId: string, bodies: readonly object[]) {
    this.#turnId = turnId;
    this.goOn(bodies);
  }

  /** Happens in the turn, and is brought to whoever follows it. */
  goOn(bodies: readonly object[]): void {
    const frames = bodies.map((body) => frame(this.#turnId, (this.#lastSeq += 1), body)).join('');
    this.#frames += frames;
    for (const reader of this.#readers) reader.write(frames);
  }

  follow(reader: ServerResponse, isNew: boolean): void {
    if (isNew) reader.write(this.#frames);
    this.#readers.add(reader);
    reader.on('close', () => this.#readers.delete(reader));
  }
}

export function turnSoFar(turnId: string, bodies: readonly (RunEventBody | object)[]): TurnSoFar {
  return new TurnSoFar(turnId, bodies);
}

function frame(turnId: string, seq: number, body: object): string {
  const base = {
    requestId: turnId,
    projectId: 'p',
    conversationId: 'c',
    protocol: 'standard',
    phase: 'action',
    phaseIndex: 0,
    cycleIndex: 0,
  };
  return `id: ${seq}\ndata: ${JSON.stringify({ ...base, ...body, seq })}\n\n`;
}

export async function openTold(machine: Sandbox, browser: Browser): Promise<ToldPage> {
  const server = await serve(machine);
  const { page } = await openPage(browser, pageLink(server));
  await page.getByRole('heading', { level: 1, name: 'Now' }).waitFor();
  let answers = new Map<string, Answer>();
  const streams = await startStreams((path) => answers.get(path));
  await page.route('**/api/**', async (route) => {
    const { pathname, search } = new URL(route.request().url());
    const answer = answers.get(`${pathname}${search}`) ?? answers.get(pathname);
    if (answer === SILENCE) return;
    if (answer === undefined) await route.continue();
    else if (answer instanceof Refusal) {
      await route.fulfill({ status: answer.status, json: answer.body });
    } else if (answer instanceof TurnSoFar) {
      await route.continue({ url: `${streams}${pathname}` });
    } else if (typeof answer === 'string') await route.fulfill({ body: answer });
    else await route.fulfill({ json: answer });
  });
  const tell = (told: Told): void => {
    answers = new Map(Object.entries(told));
  };
  return {
    page,
    server,
    tell,
    async open(path, told = {}) {
      tell(told);
      await page.goto(`${server.url}${path}`);
    },
  };
}

/** Streams that stay open, as those of a turn that runs. */
async function startStreams(find: (path: string) => Answer | undefined): Promise<string> {
  const server = createServer((request, response) => {
    const told = find(new URL(request.url ?? '/', 'http://localhost').pathname);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const behind = Number(request.headers['last-event-id'] ?? 0);
    response.write(':\n\n');
    if (told instanceof TurnSoFar) told.follow(response, behind === 0);
    const alive = setInterval(() => response.write(':\n\n'), 5000);
    response.on('close', () => clearInterval(alive));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
