/**
 * What a request asks of a document, read from its text alone.
 *
 * The prompts are those of the write session. A model would understand them; this code recognises their fixed phrases.
 */
export type DocumentPrompt = DocumentQuestion & {
  /** The session's own end marker, if the prompt names it. */
  readonly sessionMarker: string | undefined;
};

type DocumentQuestion =
  /** Write the document from its first line (the result of begin, or a prompt after nothing arrived). */
  | { readonly kind: 'begin' }
  /** Begin with the quotation and continue. `mayBeFinished`: `DONE` alone is a valid answer, too. */
  | {
      readonly kind: 'continue';
      readonly quote: string;
      readonly unit: 'lines' | 'characters';
      readonly savedLines: number | undefined;
      readonly mayBeFinished: boolean;
    }
  | {
      readonly kind: 'ambiguous';
      readonly quote: string | undefined;
      readonly savedLines: number | undefined;
      readonly candidates: readonly number[];
    }
  | { readonly kind: 'near-miss'; readonly text: string }
  | { readonly kind: 'fence'; readonly firstLine: string }
  | { readonly kind: 'lead'; readonly text: string }
  | { readonly kind: 'empty' }
  | { readonly kind: 'bridge'; readonly end: string; readonly start: string };

/** How begin asks for a file, or for text to add to one or change in it. */
const BEGINNINGS: readonly string[] = [
  'complete content of',
  'text to add at the end of',
  'text to insert into',
  'text that replaces the block of',
];

export type PromptMessage = { readonly role: string; readonly text: string };

/** What the end of the conversation asks of `target`; undefined if it asks nothing. */
export function readDocumentPrompt(
  messages: readonly PromptMessage[],
  target: string,
): DocumentPrompt | undefined {
  const trailing = withoutSystemTail(messages);
  const last = trailing.at(-1);
  if (last?.role === 'user') return readUserPrompt(last.text, target);
  for (let index = trailing.length - 1; trailing[index]?.role === 'tool'; index -= 1) {
    const text = trailing[index]?.text ?? '';
    if (
      BEGINNINGS.some((beginning) => text.includes(`${beginning} ${target} as your next message`))
    ) {
      return {
        kind: 'begin',
        sessionMarker: /(?:end with|write) (DONE [0-9a-f]{4})\b/.exec(text)?.[1],
      };
    }
  }
  return undefined;
}

/** The number of prompts of the session in the conversation. Each of them had, or now gets, a reply. */
export function countPrompts(messages: readonly PromptMessage[], target: string): number {
  return messages.filter(
    (message) => message.role === 'user' && readUserPrompt(message.text, target) !== undefined,
  ).length;
}

export function withoutSystemTail<Message extends { readonly role: string }>(
  messages: readonly Message[],
): readonly Message[] {
  return messages.slice(0, messages.findLastIndex((message) => message.role !== 'system') + 1);
}

function readUserPrompt(text: string, target: string): DocumentPrompt | undefined {
  const quote = quoted(text, 'tail');
  // The name of the target is searched for outside the quotation, which may contain anything.
  const outside = quote === undefined ? text : text.replace(quote, '');
  const question = readQuestion(text, target, { quote, outside });
  return question === undefined
    ? undefined
    : { ...question, sessionMarker: /\bDONE [0-9a-f]{4}\b/.exec(outside)?.[0] };
}

function readQuestion(
  text: string,
  target: string,
  { quote, outside }: { readonly quote: string | undefined; readonly outside: string },
): DocumentQuestion | undefined {
  const nearMiss = /^Your message ended with: ([\s\S]*?)\nReply DONE(?: [0-9a-f]{4})? if/m.exec(
    text,
  );
  if (nearMiss !== null) return { kind: 'near-miss', text: nearMiss[1] ?? '' };
  if (!outside.includes(target)) return undefined;

  const end = quoted(text, 'end');
  const start = quoted(text, 'start');
  if (end !== undefined && start !== undefined) return { kind: 'bridge', end, start };
  if (outside.includes(`Nothing of ${target} has arrived yet`)) return { kind: 'begin' };
  if (outside.includes(`but no content for ${target}`)) return { kind: 'empty' };
  if (outside.includes('Reply STRIP if')) {
    const firstLine = /begins with ([\s\S]*?) and ends with /.exec(text)?.[1] ?? '';
    return { kind: 'fence', firstLine };
  }
  const lead = / begins with: (.*)\nReply DROP if/u.exec(outside);
  if (lead !== null) return { kind: 'lead', text: lead[1] ?? '' };
  const savedLines = readCount(outside);
  const candidates = [...outside.matchAll(/^END (\d+)\b/gm)].map((match) => Number(match[1]));
  if (candidates.length > 0) return { kind: 'ambiguous', quote, savedLines, candidates };
  if (quote === undefined) return undefined;
  return {
    kind: 'continue',
    quote,
    // The beginning of a line cannot be found as a line.
    unit: /exactly this text|\(The last line is not finished\.\)/u.test(outside)
      ? 'characters'
      : 'lines',
    savedLines,
    mayBeFinished: outside.includes("If you're finished"),
  };
}

/** The last quotation of a kind, without the line breaks that its tags add. */
function quoted(text: string, kind: 'tail' | 'end' | 'start'): string | undefined {
  const open = [...text.matchAll(new RegExp(`<${kind}-([0-9a-f]+)>\\n`, 'g'))].at(-1);
  if (open === undefined) return undefined;
  const from = open.index + open[0].length;
  const to = text.indexOf(`</${kind}-${open[1]}>`, from);
  return to === -1 ? undefined : text.slice(from, to).replace(/\n$/, '');
}

function readCount(text: string): number | undefined {
  const match = /(\d[\d,]*) lines? of /.exec(text);
  return match === null ? undefined : Number((match[1] ?? '').replaceAll(',', ''));
}
