/** Processes that serve one Postgres: servers with a port each, or the workers of one parent at one port. */
import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';

import type { Preload, Served, Stage } from '../served-turns/stage.ts';

export type Group = {
  /** Whom to ask, the next one for the next number. */
  at(index: number): Served;
  /** The processes that run turns, the oldest first. */
  pids(): Promise<readonly number[]>;
  /** Another server. */
  add(preload: Preload): Promise<void>;
  /**
   * Ends one of them with a signal, and has another one in its place.
   *
   * @returns when the signal was sent, by the monotonic clock
   */
  replace(pid: number, signal: 'SIGKILL' | 'SIGTERM'): Promise<number>;
  /** Ends all of them, and waits for that. */
  end(): Promise<void>;
};

export type GroupOptions = {
  readonly count: number;
  /** One parent with so many workers. */
  readonly isOneParent: boolean;
  /** For the first server, or for the parent and each of its workers. */
  readonly preload?: Preload | undefined;
  /** For each server, and another one is started for one that ends, as the parent of workers does. */
  readonly keepsUp?: boolean;
};

const LOOK_MS = 100;

export async function startGroup(stage: Stage, options: GroupOptions): Promise<Group> {
  return options.isOneParent ? startWorkers(stage, options) : startServers(stage, options);
}

async function startServers(stage: Stage, options: GroupOptions): Promise<Group> {
  const { count, preload, keepsUp = false } = options;
  let isEnding = false;
  const servers: Served[] = [];
  const restarts: Promise<void>[] = [];
  const start = async (index: number): Promise<void> => {
    if (isEnding) return;
    const server = await stage.serve(index === 0 || keepsUp ? preload : undefined);
    servers[index] = server;
    if (keepsUp) void server.ended.then(() => restarts.push(start(index)));
  };
  await Promise.all(Array.from({ length: count }, (_, index) => start(index)));
  return {
    at(index) {
      const server = servers[index % servers.length];
      if (server === undefined) throw new Error('There is no server');
      return server;
    },
    pids: () => Promise.resolve(servers.map(({ pid }) => pid)),
    async add(other) {
      servers.push(await stage.serve(other));
    },
    async replace(pid, signal) {
      const isGentle = signal === 'SIGTERM';
      if (isGentle) servers.push(await stage.serve());
      const place = servers.findIndex((server) => server.pid === pid);
      const [gone] = place === -1 ? [] : servers.splice(place, 1);
      const sentAt = performance.now();
      gone?.signal(signal);
      if (isGentle) await gone?.ended;
      else servers.push(await stage.serve());
      return sentAt;
    },
    async end() {
      isEnding = true;
      await Promise.all(restarts);
      for (const server of servers) server.signal('SIGTERM');
      await Promise.all(servers.map(({ ended }) => ended));
    },
  };
}

async function startWorkers(stage: Stage, { count, preload }: GroupOptions): Promise<Group> {
  const parent = await stage.serve(preload, ['--workers', String(count)]);
  const pids = (): Promise<readonly number[]> => childrenOf(parent.pid);
  return {
    at: () => parent,
    pids,
    add: () => Promise.reject(new Error('The parent decides how many workers there are')),
    async replace(pid, signal) {
      const before = await pids();
      const sentAt = performance.now();
      process.kill(pid, signal);
      // The parent does the rest.
      for (;;) {
        const now = await pids();
        if (!now.includes(pid) && now.length >= before.length) return sentAt;
        await wait(LOOK_MS);
      }
    },
    async end() {
      parent.signal('SIGTERM');
      await parent.ended;
    },
  };
}

async function childrenOf(pid: number): Promise<readonly number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.split(' ').filter(Boolean).map(Number);
}
