/**
 * What a prompt of the write session asks, read from its words as a model reads them. A prompt that nothing here
 * understands is thrown: a campaign whose models do not know what they are asked proves nothing.
 */
export type Asked =
  /** Write it from its first line. */
  | { readonly kind: 'write' }
  /** Repeat the quotation and continue; `mayBeFinished`: DONE is an answer too. */
  | { readonly kind: 'continue'; readonly quote: string; readonly mayBeFinished: boolean }
  | {
      readonly kind: 'end';
      readonly quote: string;
      readonly candidates: readonly { readonly line: number; readonly following: string }[];
      /** The message ended with DONE once more, behind the candidate. */
      readonly doubled: boolean;
    }
  | { readonly kind: 'near miss'; readonly text: string }
  | { readonly kind: 'fence'; readonly firstLine: string }
  | { readonly kind: 'lead'; readonly lead: string }
  | { readonly kind: 'omission' }
  | { readonly kind: 'empty' }
  | { readonly kind: 'bridge'; readonly end: string; readonly start: string };

export type Question = {
  readonly asked: Asked;
  /** The words that the prompt offers as answers, in its order. */
  readonly choices: readonly string[];
  /** What the model writes when it is finished. */
  readonly done: string;
};

export function readQuestion(prompt: string): Question {
  const asked = readAsked(prompt);
  const done = /\bDONE [0-9a-f]{4}\b/u.exec(prompt.replaceAll(/<tail[\s\S]*<\/tail/gu, ''))?.[0];
  return { asked, choices: choicesOf(asked), done: done ?? 'DONE' };
}

function readAsked(prompt: string): Asked {
  if (/ as your next message, from its first line\./u.test(prompt)) return { kind: 'write' };
  const nearMiss = /Your message ended with: ([\s\S]*?)\nReply DONE/u.exec(prompt);
  if (nearMiss !== null) return { kind: 'near miss', text: nearMiss[1] ?? '' };
  const fence = /begins with ([\s\S]*?) and ends with [\s\S]*\nReply STRIP/u.exec(prompt);
  if (fence !== null) return { kind: 'fence', firstLine: fence[1] ?? '' };
  const lead = / begins with: ([\s\S]*?)\nReply DROP/u.exec(prompt);
  if (lead !== null) return { kind: 'lead', lead: lead[1] ?? '' };
  if (prompt.includes('\nReply AGAIN if')) return { kind: 'omission' };
  const end = quotation(prompt, 'end');
  const start = quotation(prompt, 'start');
  if (end !== null && start !== null) return { kind: 'bridge', end, start };
  if (prompt.includes('You wrote DONE, but no content for')) return { kind: 'empty' };
  if (/^(?:Nothing of .* has arrived yet\. )?Write .* now, from its first line/mu.test(prompt)) {
    return { kind: 'write' };
  }
  const quote = quotation(prompt, 'tail');
  if (quote === null) throw new Error(`no model understands this prompt: ${prompt}`);
  const candidates = [
    ...prompt.matchAll(
      /^Line ([0-9,]+) of what is saved for .* is DONE,? (?:and this comes after it: "(.*?)"|.*)(.*)$/gmu,
    ),
  ].map((found) => ({
    line: Number((found[1] ?? '').replaceAll(',', '')),
    following: found[2] ?? '',
  }));
  if (candidates.length > 0) {
    return { kind: 'end', quote, candidates, doubled: prompt.includes('DONE once more') };
  }
  return { kind: 'continue', quote, mayBeFinished: prompt.includes("If you're finished") };
}

function choicesOf(asked: Asked): readonly string[] {
  switch (asked.kind) {
    case 'end':
      return [...asked.candidates.map(({ line }) => `END ${line}`), 'DONE'];
    case 'near miss':
      return ['DONE', 'KEEP'];
    case 'fence':
      return ['STRIP', 'KEEP'];
    case 'lead':
      return ['DROP', 'KEEP'];
    case 'omission':
      return ['KEEP', 'AGAIN'];
    case 'continue':
      return asked.mayBeFinished ? ['DONE'] : [];
    case 'empty':
      return ['DONE'];
    case 'write':
    case 'bridge':
      return [];
    default:
      return asked satisfies never;
  }
}

/** The session's own end marker, as the request to write names it. */
export function markerOf(prompt: string): string {
  return /\bDONE [0-9a-f]{4}\b/u.exec(prompt)?.[0] ?? 'DONE';
}

/** The last quotation in such tags. */
function quotation(prompt: string, tag: string): string | null {
  const found = [
    ...prompt.matchAll(new RegExp(`<${tag}-([0-9a-fx]+)>\\n([\\s\\S]*?)\\n</${tag}-\\1>`, 'gu')),
  ].at(-1);
  return found?.[2] ?? null;
}
