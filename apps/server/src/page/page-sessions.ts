/**
 * The log-in of the page: links that count once, and sessions that a tab keeps in place of the server's token.
 *
 * G1. Codes and keys are derived from the server's token and a generation. So they outlive a restart and hold at every
 *     process with the same token, and a new token or a new generation ends all of them.
 * G2. A code counts once and for CODE_MS. What has ended early, a code that was used and a session that was signed out,
 *     is stored before the answer.
 *     Servers that share what is stored change it one after the other, so that none of two changes at once is lost and a
 *     link counts at one of them. They learn of what has ended within a second.
 * G3. The server proves that it knows a key without sending it, so that a tab can find out who listens on its port
 *     before it sends the key. An id names its generation, so that one that has ended is told from a stranger's.
 * G4. A session is over after IDLE_MS without use. Its use is stored once in NOTED_MS, so another server may take it for
 *     over by that much earlier.
 */
import { createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';

import { OrionError } from '@orion/contracts';
import type { Clock, PageAccess, PageSessionAnswer } from '@orion/contracts';

export type PageSessionsOptions = {
  readonly token: string;
  readonly clock: Clock;
  readonly access: PageAccess;
  /** Reads what is stored now. */
  readonly read: () => Promise<PageAccess>;
  /** Replaces it by what `change` makes of it, with no other change in between. */
  readonly update: (change: (stored: PageAccess) => PageAccess) => Promise<void>;
};

type Times = Readonly<Record<string, number>>;

const CODE_MS = 5 * 60_000;
const IDLE_MS = 12 * 3_600_000;
const NOTED_MS = 3_600_000;
const LONGEST_MS = 7 * 24 * 3_600_000;
/** Wrong codes in a minute, whoever sends them. */
const MOST_WRONG = 5;
const MINUTE_MS = 60_000;
/** How long a session counts without looking what other servers have ended. */
const FRESH_MS = 1_000;
const MAC_BYTES = 16;
const CODE = /^([0-9a-z]{1,9})\.([0-9a-f]{16})\.([0-9a-f]{32})$/u;
const ID = /^([0-9a-z]{1,9})-[0-9a-f]{24}$/u;
const BEARER = /^([0-9a-z]{1,9}-[0-9a-f]{24})\.([0-9a-f]{64})$/u;

export class PageSessions {
  readonly #options: PageSessionsOptions;
  readonly #startedAt: number;
  /** Sessions that were used at this process, with the time of their last use. */
  readonly #lastUsed = new Map<string, number>();
  #access: PageAccess;
  #readAt = Number.NEGATIVE_INFINITY;
  #wrong: number[] = [];
  /** Changes of what is stored, one after the other. */
  #saving: Promise<void> = Promise.resolve();

  constructor(options: PageSessionsOptions) {
    this.#options = options;
    this.#access = options.access;
    this.#startedAt = options.clock.now();
  }

  /** For a link: whoever has it may make one session of it. */
  makeCode(): string {
    const until = (this.#now() + CODE_MS).toString(36);
    const nonce = randomBytes(8).toString('hex');
    return `${until}.${nonce}.${this.#codeMac(until, nonce)}`;
  }

  /** Rejects with PAGE_LINK_INVALID, PAGE_LINK_USED, RATE_LIMITED, and with disk errors. */
  async redeem(code: string): Promise<PageSessionAnswer> {
    await this.refresh();
    const now = this.#now();
    const [, until = '', nonce = '', mac = ''] = CODE.exec(code) ?? [];
    const expiresAt = Number.parseInt(until, 36);
    const isOwn = (): boolean => mac !== '' && isEqual(mac, this.#codeMac(until, nonce));
    if (!isOwn()) throw this.#wrongCode(now);
    if (expiresAt < now) throw linkInvalid();
    const used = createHash('sha256').update(code).digest('hex');
    if (this.#hasEnded(used)) throw linkUsed();
    const before = await this.#end(used, expiresAt);
    // Another server has ended everything since, or was the first to take it.
    if (!isOwn()) throw linkInvalid();
    if (before.ended[used] !== undefined) throw linkUsed();
    return this.create();
  }

  /** Only codes that are not of this server count: others cannot be made without its token, and lock nobody out. */
  #wrongCode(now: number): OrionError {
    this.#wrong = this.#wrong.filter((at) => now - at < MINUTE_MS);
    if (this.#wrong.length >= MOST_WRONG) return tooManyWrong(this.#wrong[0] ?? now, now);
    this.#wrong.push(now);
    return linkInvalid();
  }

  /** Learns what other servers have ended, at most once a second. Never rejects. */
  async refresh(): Promise<void> {
    const now = this.#options.clock.monotonic();
    if (now - this.#readAt < FRESH_MS) return;
    this.#readAt = now;
    // What is known here holds on.
    await this.#read().catch(() => undefined);
    for (const id of this.#lastUsed.keys()) if (!this.#isAlive(id)) this.#lastUsed.delete(id);
  }

  create(): PageSessionAnswer {
    const random = randomBytes(10).toString('hex');
    const id = `${this.#now().toString(36)}-${this.#generationMark()}${random}`;
    return { id, key: this.#keyOf(id).toString('hex') };
  }

  /** What only a server that knows the key of this session can answer. Throws PAGE_SESSION_ENDED. */
  prove(id: string, challenge: string): string {
    // A proof by the key of another generation would look like that of a stranger.
    if (!this.#isAlive(id) || !id.includes(`-${this.#generationMark()}`)) {
      throw new OrionError({ code: 'PAGE_SESSION_ENDED', message: 'This log-in is over.' });
    }
    return createHmac('sha256', this.#keyOf(id))
      .update(`orion page challenge ${challenge}`)
      .digest('hex');
  }

  /** Whether this is the `<id>.<key>` of a session that is not over. */
  accepts(bearer: string): boolean {
    const [, id = '', key = ''] = BEARER.exec(bearer) ?? [];
    if (id === '' || !this.#isAlive(id) || !isEqual(key, this.#keyOf(id).toString('hex')))
      return false;
    const now = this.#now();
    this.#lastUsed.set(id, now);
    // A server that does not hear of it knows of the use an hour ago.
    if (now - this.#notedAt(id) >= NOTED_MS) this.#note(id, now).catch(() => undefined);
    return true;
  }

  async end(id: string): Promise<void> {
    if (!ID.test(id)) return;
    this.#lastUsed.delete(id);
    await this.#end(id, this.#now() + LONGEST_MS);
  }

  async endAll(): Promise<void> {
    this.#lastUsed.clear();
    await this.#change(({ generation }) => ({ generation: generation + 1, ended: {} }));
  }

  #isAlive(id: string): boolean {
    const beganAt = beganAtOf(id);
    const now = this.#now();
    // The clock of the server that began it may be ahead of this one.
    if (!(beganAt - now < MINUTE_MS && now - beganAt < LONGEST_MS) || this.#hasEnded(id))
      return false;
    // A process that has just started does not know when a session was used last.
    const usedAt = Math.max(this.#lastUsed.get(id) ?? this.#startedAt, this.#notedAt(id));
    return now - usedAt < IDLE_MS;
  }

  #hasEnded(name: string): boolean {
    return this.#access.ended[name] !== undefined;
  }

  /** The last use that other servers know of. */
  #notedAt(id: string): number {
    return this.#access.used?.[id] ?? beganAtOf(id);
  }

  #note(id: string, now: number): Promise<PageAccess> {
    return this.#change((access) => ({ ...access, used: { ...access.used, [id]: now } }));
  }

  #end(name: string, until: number): Promise<PageAccess> {
    return this.#change((access) => ({ ...access, ended: { ...access.ended, [name]: until } }));
  }

  /** It holds from now on, and is stored when this resolves: to what was stored before. */
  #change(change: (access: PageAccess) => PageAccess): Promise<PageAccess> {
    this.#access = change(this.#access);
    const saved = this.#saving.then(async () => {
      let before = this.#access;
      await this.#options.update((stored) => {
        before = stored;
        return this.#learn(change(stored));
      });
      return before;
    });
    this.#saving = saved.then(ignored, ignored);
    return saved;
  }

  async #read(): Promise<void> {
    this.#learn(await this.#options.read());
  }

  /** Joins it with what is known here, and forgets what nothing needs any more. */
  #learn(access: PageAccess): PageAccess {
    const { generation, ended, used = {} } = joined(this.#access, access);
    const now = this.#now();
    this.#access = {
      generation,
      ended: selected(ended, (until) => until > now),
      used: selected(
        used,
        (at, id) =>
          ended[id] === undefined && now - at < IDLE_MS && now - beganAtOf(id) < LONGEST_MS,
      ),
    };
    return this.#access;
  }

  #codeMac(until: string, nonce: string): string {
    const secret = this.#derive('orion page code', 32);
    const mac = createHmac('sha256', secret).update(`${until}.${nonce}`).digest();
    return mac.subarray(0, MAC_BYTES).toString('hex');
  }

  #keyOf(id: string): Buffer {
    return this.#derive(`orion page session ${id}`, 32);
  }

  /** What an id begins with behind its time. */
  #generationMark(): string {
    return (this.#access.generation % 0x1_0000).toString(16).padStart(4, '0');
  }

  #derive(info: string, bytes: number): Buffer {
    const salt = `generation ${this.#access.generation}`;
    return Buffer.from(hkdfSync('sha256', this.#options.token, salt, info, bytes));
  }

  #now(): number {
    return this.#options.clock.now();
  }
}

/** What ended or was used in either, where neither has ended everything since. */
function joined(one: PageAccess, other: PageAccess): PageAccess {
  if (one.generation !== other.generation) return one.generation > other.generation ? one : other;
  return {
    generation: one.generation,
    ended: { ...one.ended, ...other.ended },
    used: later(one.used, other.used),
  };
}

function later(one: Times = {}, other: Times = {}): Times {
  const times = new Map(Object.entries(one));
  for (const [id, at] of Object.entries(other)) times.set(id, Math.max(at, times.get(id) ?? at));
  return Object.fromEntries(times);
}

function selected(times: Times, isKept: (at: number, name: string) => boolean): Times {
  return Object.fromEntries(Object.entries(times).filter(([name, at]) => isKept(at, name)));
}

/** NaN for what is no id of a session. */
function beganAtOf(id: string): number {
  return Number.parseInt(ID.exec(id)?.[1] ?? '', 36);
}

function ignored(): void {}

function linkInvalid(): OrionError {
  return new OrionError({
    code: 'PAGE_LINK_INVALID',
    message: 'This log-in link is not valid, or older than five minutes.',
  });
}

function linkUsed(): OrionError {
  return new OrionError({ code: 'PAGE_LINK_USED', message: 'This log-in link was used before.' });
}

function isEqual(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}

function tooManyWrong(first: number, now: number): OrionError {
  const retryAfterSeconds = Math.max(1, Math.ceil((first + MINUTE_MS - now) / 1000));
  return new OrionError({
    code: 'RATE_LIMITED',
    message: 'Too many log-in links were wrong.',
    hint: `Try again in ${retryAfterSeconds} s.`,
    details: { retryAfterSeconds },
  });
}
