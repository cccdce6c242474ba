/**
 * The classes of `fetch` for a command's process: the provider packages build their headers with them. Node's own
 * come with its whole HTTP client, which takes longer to load than all else that a short turn does, and which no
 * request of a command goes through.
 *
 * 1. What is here behaves as the standard says; what a request and its answer do not need is not here.
 * 2. A name or a value that no header can carry is refused, so that nobody's text becomes a second header.
 */

/** Puts them in the place of Node's. Only an app may do that to its process. */
export function replaceFetchClasses(): void {
  // Assigned, not defined: to look at the property, as a definition does, loads what it stands for.
  // oxlint-disable-next-line no-restricted-globals -- the globals themselves are replaced, for the whole process
  Object.assign(globalThis, { Headers, Response, Request, FormData });
}

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

type HeaderPairs = Iterable<readonly [string, string]>;
export type HeadersSource = Headers | HeaderPairs | Readonly<Record<string, string>>;

export class Headers {
  readonly #values = new Map<string, string[]>();

  constructor(source?: HeadersSource) {
    if (source === undefined) return;
    const pairs = Symbol.iterator in source ? (source as HeaderPairs) : Object.entries(source);
    for (const [name, value] of pairs) this.append(name, value);
  }

  append(name: string, value: string): void {
    const key = checkedName(name);
    const values = this.#values.get(key);
    if (values === undefined) this.#values.set(key, [checkedValue(value)]);
    else values.push(checkedValue(value));
  }

  set(name: string, value: string): void {
    this.#values.set(checkedName(name), [checkedValue(value)]);
  }

  get(name: string): string | null {
    return this.#values.get(checkedName(name))?.join(', ') ?? null;
  }

  getSetCookie(): string[] {
    return [...(this.#values.get('set-cookie') ?? [])];
  }

  has(name: string): boolean {
    return this.#values.has(checkedName(name));
  }

  delete(name: string): void {
    this.#values.delete(checkedName(name));
  }

  forEach(callback: (value: string, name: string, headers: Headers) => void, self?: unknown): void {
    for (const [name, value] of this) callback.call(self, value, name, this);
  }

  *entries(): IterableIterator<[string, string]> {
    for (const name of [...this.#values.keys()].toSorted()) {
      const values = this.#values.get(name) ?? [];
      if (name === 'set-cookie') for (const value of values) yield [name, value];
      else yield [name, values.join(', ')];
    }
  }

  *keys(): IterableIterator<string> {
    for (const [name] of this.entries()) yield name;
  }

  *values(): IterableIterator<string> {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.entries();
  }

  get [Symbol.toStringTag](): string {
    return 'Headers';
  }
}

export type ResponseInit = {
  readonly status?: number;
  readonly statusText?: string;
  readonly headers?: HeadersSource;
};

/** An answer whose text is known when it is made, or one whose body is read elsewhere. */
export class Response {
  readonly #text: string | null;
  readonly #status: number;
  readonly #statusText: string;
  readonly #headers: Headers;
  #used = false;

  constructor(body: string | null = null, init: ResponseInit = {}) {
    this.#text = body;
    this.#status = init.status ?? 200;
    if (this.#status < 200 || this.#status > 599) throw new RangeError('a status is 200 to 599');
    this.#statusText = init.statusText ?? '';
    this.#headers = new Headers(init.headers);
  }

  get status(): number {
    return this.#status;
  }

  get ok(): boolean {
    return this.#status < 300;
  }

  get statusText(): string {
    return this.#statusText;
  }

  get headers(): Headers {
    return this.#headers;
  }

  get url(): string {
    return '';
  }

  get redirected(): boolean {
    return false;
  }

  get type(): string {
    return 'default';
  }

  get bodyUsed(): boolean {
    return this.#used;
  }

  get body(): ReadableStream<Uint8Array> | null {
    if (this.#text === null) return null;
    return new Blob([this.#take()]).stream();
  }

  text(): Promise<string> {
    return this.#once((text) => text);
  }

  json(): Promise<unknown> {
    return this.#once((text) => JSON.parse(text) as unknown);
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return this.#once((text) => new TextEncoder().encode(text).buffer);
  }

  blob(): Promise<Blob> {
    return this.#once((text) => new Blob([text]));
  }

  clone(): Response {
    const { status, statusText, headers } = this;
    return new Response(this.#text, { status, statusText, headers });
  }

  get [Symbol.toStringTag](): string {
    return 'Response';
  }

  async #once<T>(read: (text: string) => T): Promise<T> {
    return read(this.#take());
  }

  #take(): string {
    if (this.#used) throw new TypeError('the body was read already');
    this.#used = true;
    return this.#text ?? '';
  }
}

/** Only asked whether something is one; here nothing is. */
export class Request {
  readonly url: string = '';
}

/** Only asked whether something is one: nothing is uploaded. */
export class FormData {}

function checkedName(name: string): string {
  if (!HEADER_NAME.test(name)) throw new TypeError(`${JSON.stringify(name)} is no header name`);
  return name.toLowerCase();
}

function checkedValue(value: string): string {
  const text = String(value).replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, '');
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === 0x00 || code === 0x0a || code === 0x0d || code > 0xff) {
      throw new TypeError('a header value has a character that no header can carry');
    }
  }
  return text;
}
