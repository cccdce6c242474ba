import type { ScriptedDocument } from './document.ts';
import type { DocumentPrompt } from './prompts.ts';
import type { Continuation, DocumentReply } from './script.ts';

const POLITE = 'Of course, here is the rest of the file:';
const IGNORED = 'I am sorry, but I cannot help with that request.';
/** The reply of a model that does not recognise the quotation; tests look for it. */
export const NOT_FOUND = 'I do not have these lines.';

/** The whole text of a reply, as the model of the script would write it. */
export function writeDocumentReply(
  document: ScriptedDocument,
  reply: DocumentReply,
  prompt: DocumentPrompt,
  continuation: Continuation,
): string {
  const marker = endMarker(reply, prompt);
  switch (prompt.kind) {
    case 'begin':
      return firstMessage(document, reply, marker);
    case 'empty':
      return (
        reply.answers?.empty ??
        (document.text === '' ? 'DONE' : firstMessage(document, reply, marker))
      );
    case 'near-miss':
      return (
        reply.answers?.nearMiss ??
        (document.text.trimEnd().endsWith(prompt.text.trim()) ? 'KEEP' : 'DONE')
      );
    case 'fence':
      return (
        reply.answers?.fence ?? (document.text.startsWith(prompt.firstLine) ? 'KEEP' : 'STRIP')
      );
    case 'lead':
      return document.text.startsWith(prompt.text) ? 'KEEP' : 'DROP';
    case 'bridge': {
      const end = document.findLines(prompt.end, undefined);
      const start =
        end === undefined ? undefined : document.findLines(prompt.start, document.lineCount);
      if (end === undefined || start === undefined) return NOT_FOUND;
      return withMarker(document.text.slice(end.start, Math.max(start.end, end.end)), 'DONE');
    }
    case 'ambiguous': {
      if (reply.answers?.ambiguous !== undefined) return reply.answers.ambiguous;
      const place =
        prompt.quote === undefined
          ? undefined
          : document.findLines(prompt.quote, prompt.savedLines);
      if (place === undefined) {
        const end = prompt.candidates.find((candidate) => candidate === document.lineCount + 1);
        return `END ${end ?? prompt.candidates[0]}`;
      }
      const rest = document.text.slice(place.end);
      return rest.trim() === ''
        ? (marker ?? 'DONE')
        : withMarker(document.text.slice(place.start), marker);
    }
    case 'continue':
      return continueFrom(document, prompt, continuation, marker);
    default:
      prompt satisfies never;
      return '';
  }
}

function continueFrom(
  document: ScriptedDocument,
  prompt: Extract<DocumentPrompt, { kind: 'continue' }>,
  continuation: Continuation,
  marker: string | undefined,
): string {
  const { text } = document;
  const place =
    prompt.unit === 'lines'
      ? document.findLines(prompt.quote, prompt.savedLines)
      : document.findCharacters(prompt.quote, prompt.savedLines);
  if (continuation.variant === 'ignore') return continuation.text ?? IGNORED;
  if (continuation.variant === 'restart') return withMarker(text, marker);
  if (place === undefined) return NOT_FOUND;
  if (prompt.mayBeFinished && text.slice(place.end).trim() === '') return marker ?? 'DONE';

  switch (continuation.variant) {
    case 'compliant':
      return withMarker(text.slice(place.start), marker);
    case 'repeat_extra':
      return withMarker(
        text.slice(document.moveLines(place.start, -(continuation.lines ?? 3))),
        marker,
      );
    case 'no_anchor':
      return withMarker(text.slice(place.end), marker);
    case 'start_late':
    case 'skip_lines': {
      const skipped = continuation.variant === 'start_late' ? 1 : (continuation.lines ?? 1);
      return withMarker(
        text.slice(place.end === text.length ? place.end : document.moveLines(place.end, skipped)),
        marker,
      );
    }
    case 'polite':
      return `${continuation.text ?? POLITE}\n\n${withMarker(text.slice(place.start), marker)}`;
    case 'refence':
      return fenced(
        text.slice(place.start),
        continuation.text ?? '',
        continuation.close ?? 'before_marker',
        marker,
      );
    default:
      continuation.variant satisfies never;
      return '';
  }
}

/** The entry for the n-th continuation, from 1. */
export function chooseContinuation(
  entries: readonly Continuation[] | undefined,
  ordinal: number,
): Continuation {
  let left = ordinal;
  for (const entry of entries ?? []) {
    if (entry.first === undefined || left <= entry.first) return entry;
    left -= entry.first;
  }
  return { variant: 'compliant' };
}

function firstMessage(
  document: ScriptedDocument,
  reply: DocumentReply,
  marker: string | undefined,
): string {
  const before = reply.before === undefined ? '' : `${reply.before}\n\n`;
  const after = reply.after === undefined ? '' : `\n${reply.after}`;
  const body =
    reply.fence === undefined
      ? withMarker(document.text, marker)
      : fenced(document.text, reply.fence, 'before_marker', marker);
  return before + body + after;
}

function endMarker(reply: DocumentReply, prompt: DocumentPrompt): string | undefined {
  const wanted = reply.endMarker ?? 'DONE';
  if (wanted === 'none') return undefined;
  if (wanted !== 'session') return wanted;
  return prompt.sessionMarker ?? 'DONE';
}

function withMarker(text: string, marker: string | undefined): string {
  return marker === undefined ? text : endLine(text) + marker;
}

function fenced(
  text: string,
  language: string,
  close: NonNullable<Continuation['close']>,
  marker: string | undefined,
): string {
  const open = `\`\`\`${language}\n${endLine(text)}`;
  if (close === 'before_marker') return withMarker(`${open}\`\`\``, marker);
  return withMarker(open, marker) + (close === 'after_marker' ? '\n```' : '');
}

function endLine(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
