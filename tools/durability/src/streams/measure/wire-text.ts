/** Text of an answer, and the byte of the connection at which each piece of it was complete. */
export type WireAnswer = {
  readonly startsAt: number;
  readonly text: string;
  readonly pieces: readonly { readonly endsAt: number; readonly characters: number }[];
};

/** The text of every answer that went over a connection; the last one may be cut anywhere. */
export function readAnswers(wire: Buffer): readonly WireAnswer[] {
  const answers: WireAnswer[] = [];
  let position = 0;
  while (position < wire.length) {
    const headEnd = wire.indexOf('\r\n\r\n', position);
    if (headEnd === -1) break;
    const head = wire.toString('latin1', position, headEnd);
    const length = /^content-length: *(\d+)/im.exec(head)?.[1];
    const bodyStart = headEnd + 4;
    const body =
      length === undefined
        ? readChunks(wire, bodyStart)
        : {
            data: wire.subarray(bodyStart, bodyStart + Number(length)),
            places: [{ at: 0, wireAt: bodyStart }],
            end: bodyStart + Number(length),
          };
    answers.push({ startsAt: position, ...readEvents(body) });
    position = body.end;
  }
  return answers;
}

type Body = {
  readonly data: Buffer;
  /** From the body's byte `at` on, the wire's bytes from `wireAt` on are its bytes. */
  readonly places: readonly { readonly at: number; readonly wireAt: number }[];
  /** Behind the body, on the wire. */
  readonly end: number;
};

function readChunks(wire: Buffer, start: number): Body {
  const parts: Buffer[] = [];
  const places: { at: number; wireAt: number }[] = [];
  let at = 0;
  let position = start;
  for (;;) {
    const lineEnd = wire.indexOf('\r\n', position);
    if (lineEnd === -1) return { data: Buffer.concat(parts), places, end: wire.length };
    const size = Number.parseInt(wire.toString('latin1', position, lineEnd), 16);
    const from = lineEnd + 2;
    if (size === 0) return { data: Buffer.concat(parts), places, end: from + 2 };
    const part = wire.subarray(from, from + size);
    parts.push(part);
    places.push({ at, wireAt: from });
    at += part.length;
    position = from + size + 2;
    if (position > wire.length) return { data: Buffer.concat(parts), places, end: wire.length };
  }
}

const EVENT_START = 'data: ';

function readEvents(body: Body): Omit<WireAnswer, 'startsAt'> {
  const pieces: { endsAt: number; characters: number }[] = [];
  const texts: string[] = [];
  let place = 0;
  const { data, places } = body;
  for (let start = 0; ;) {
    const end = data.indexOf('\n\n', start);
    if (end === -1) break;
    const line = data.toString('utf8', start, end);
    start = end + 2;
    if (!line.startsWith(`${EVENT_START}{`)) continue;
    const event = JSON.parse(line.slice(EVENT_START.length)) as StreamEvent;
    const text = event.choices?.[0]?.delta?.content ?? '';
    if (text === '') continue;
    const last = end + 1;
    while ((places[place + 1]?.at ?? Number.POSITIVE_INFINITY) <= last) place += 1;
    const from = places[place];
    if (from === undefined) throw new Error('a body without bytes has no events');
    texts.push(text);
    pieces.push({ endsAt: from.wireAt + (last - from.at) + 1, characters: text.length });
  }
  return { text: texts.join(''), pieces };
}

type StreamEvent = {
  readonly choices?: readonly { readonly delta?: { readonly content?: string | null } }[];
};
