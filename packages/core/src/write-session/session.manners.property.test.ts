import fc from 'fast-check';
import { expect, test } from 'vitest';

import { openQuestionOf } from './control.ts';
import { receiptNotesOf } from './session.ts';
import { SessionHarness } from './testing/session-harness.ts';

/**
 * Models with bad manners against the reducer: any first message around a document, cut anywhere, any questions that
 * follow, and answers that are right in some dress or of no help, in any pieces. The file is the document, or the
 * session names what is unsure, or it waits. And nothing that came as content is lost.
 */
const RUNS = Number(process.env['ORION_FUZZ_RUNS'] ?? 300);
const SEED = process.env['ORION_FUZZ_SEED'];
const ROUNDS = 8;

const LINES: readonly string[] = [
  'the garden is planted',
  'const harbour = "Bergen";',
  '  return radius * mass;',
  'for page in *.md; do',
  'done',
  'DONE',
  '',
  '```sh',
  '```',
  '# Title',
  'All of it is done.',
  'Of course, nobody believed him.',
  '日本語の行です。',
];
const BEFORE: readonly string[] = [
  '',
  '',
  '',
  'Sure! Here is the file:\n\n',
  'Certainly!\n\n**Here is the content of the file:**\n\n',
  '好的，以下是完整的文件内容：\n\n',
  '\n \n\n',
  '```\n',
  'Here is the file:\n\n```\n',
];
const AFTER: readonly string[] = [
  'DONE',
  'DONE',
  'DONE\n\nDONE\n',
  'DONE\nI hope this helps you!\n',
  'DONE 7f3a\nThat was the file.',
  'done',
  'DONE.',
  '**DONE**',
  '\bDONE',
  '\b DONE',
  '\b',
  '',
  '\nI hope this helps you!',
  '```\nDONE\n```',
];
/** Around a right answer. */
const DRESSES: readonly (readonly [before: string, after: string])[] = [
  ['', ''],
  ['**', '**'],
  ['`', '`'],
  ['"', '".'],
  ['```\n', '\n```'],
  ['You are right, that was not clear.\n\n', ''],
  ['The answer is this. ', ''],
  ['好的，我明白了。\n', ''],
  ['', '\n\nLet me know if you need anything else!'],
];
/** Answers that say nothing, or something else than was asked; none of them is a wrong answer. */
const NO_HELP: readonly string[] = [
  '',
  'I am not DONE yet',
  'Yes, I am finished.',
  'The file ends before line 3.',
  'END 1\nEND 2\nDONE',
  'DONE or KEEP',
  'not END 1',
  'What do you mean?',
  '{again}',
  '{message}',
  '{rest}',
];

type Case = {
  readonly target: string;
  readonly document: string;
  readonly before: string;
  readonly after: string;
  readonly cut: number | null;
  readonly replies: readonly { readonly dress: number; readonly noHelp: number | null }[];
  readonly pieces: readonly number[];
};

const cases: fc.Arbitrary<Case> = fc
  .record({
    target: fc.constantFrom('notes.txt', 'README.md', 'build.sh', 'src/harbour.ts'),
    document: fc
      .array(fc.constantFrom(...LINES), { minLength: 1, maxLength: 12 })
      // A number makes a line one of its kind, so that it can be looked for; markers and fences stay what they are.
      .map((lines) =>
        lines
          .map((line, index) => (/^(?:done|DONE|`.*|)$/u.test(line) ? line : `${line} n${index}n`))
          .join('\n'),
      )
      // A DONE at the end that belongs to the file, or blank lines there, cannot be told from the end of a message.
      .filter((text) => /^.*\S/u.test(text) && !/(?:^|\n)(?:DONE)?$/u.test(text))
      // Nor can a document that is nothing but marks and fences be told from answers.
      .filter((text) => !text.startsWith('```') && /n\d+n/u.test(text))
      .map((text) => `${text}\n`),
    before: fc.constantFrom(...BEFORE),
    after: fc.constantFrom(...AFTER),
    cut: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { freq: 3 }),
    replies: fc.array(
      fc.record({
        dress: fc.nat(DRESSES.length - 1),
        noHelp: fc.option(fc.nat(NO_HELP.length - 1), { freq: 3 }),
      }),
      { minLength: ROUNDS, maxLength: ROUNDS },
    ),
    pieces: fc.array(fc.nat(400), { maxLength: 12 }),
  })
  // A fence that the model opens and never closes, or that stands around others, is what P5 and its own tests are about.
  .filter(({ before, after, document }) =>
    before.includes('```') ? !after.startsWith('\b') && !document.includes('```') : true,
  );

function firstMessage({ document, before, after }: Case): string {
  const closing = before.includes('```') ? '```\n' : '';
  return after.startsWith('\b')
    ? `${before}${document.slice(0, -1)}${after.slice(1)}`
    : `${before}${document}${closing}${after}`;
}

/** What a model says that knows its document, what it sent, and what it is asked. */
function rightAnswer(harness: SessionHarness, own: Case): string {
  const { document, before } = own;
  const content = Buffer.from(harness.content);
  const upTo = (end: number): string => String(content.subarray(0, end));
  /** Whether this text is the document, behind what may stand before it. */
  const isDocument = (text: string): boolean =>
    text.endsWith(document) || `${text}\n`.endsWith(document);
  const isWhole = (text: string): boolean =>
    isDocument(text) || (before.includes('```') && isDocument(withoutFence(text)));
  const question = openQuestionOf(harness.session.control);
  switch (question?.kind) {
    case 'end': {
      const end = question.candidates.find(({ contentEnd }) => isWhole(upTo(contentEnd)));
      if (end !== undefined) return `END ${end.line}`;
      break;
    }
    case 'near_miss':
      // What was held back is no part of the content yet.
      if (question.heldBack && !isWhole(harness.content)) return `${document}DONE`;
      if (question.heldBack || isWhole(upTo(question.contentEnd))) return 'DONE';
      return isWhole(harness.content) ? 'KEEP' : `${document}DONE`;
    case 'fence': {
      const inside = String(content.subarray(question.contentStart, question.contentEnd));
      if (inside === document) return 'STRIP';
      return isDocument(harness.content) ? 'KEEP' : `${document}DONE`;
    }
    case 'omission':
      return 'KEEP';
    default:
      if (question !== null && question !== undefined) {
        return before === '' ? 'KEEP' : 'DROP';
      }
  }
  if (isWhole(harness.content)) return 'DONE';
  const quoted = /<tail-7f3ax*>\n([\s\S]*?)\n<\/tail-7f3ax*>/u.exec(harness.prompts.at(-1) ?? '');
  // It repeats what it has sent, the words before the document too.
  const sent = `${before}${document}`;
  if (quoted?.[1] === undefined || !sent.startsWith(harness.content)) return `${document}DONE`;
  return `${sent.slice(harness.content.lastIndexOf(quoted[1]))}DONE`;
}

function withoutFence(text: string): string {
  return text.replace(/```\n?$/u, '');
}

function replyOf(harness: SessionHarness, own: Case, round: number): string {
  const reply = own.replies[round];
  const noHelp = reply?.noHelp ?? null;
  if (noHelp !== null) {
    const text = NO_HELP[noHelp] ?? '';
    if (text === '{again}') return `${own.document}DONE`;
    if (text === '{message}') return firstMessage(own);
    const rest = own.document.split('\n').slice(2).join('\n');
    if (text === '{rest}') {
      // Marks alone would be the answer DONE, and a rest that begins as the document does another document.
      const marks = /^(?:done|```(?:sh)?|\s)*$/iu.test(rest);
      return marks || own.document.startsWith(rest.charAt(0)) ? '' : `${rest}DONE`;
    }
    return text;
  }
  const right = rightAnswer(harness, own);
  const [before, after] = DRESSES[reply?.dress ?? 0] ?? ['', ''];
  return right.includes('\n') ? right : `${before}${right}${after}`;
}

function divide(whole: string, places: readonly number[]): readonly string[] {
  const at = [...new Set(places.map((place) => place % (whole.length + 1)))].toSorted(
    (one, other) => one - other,
  );
  return [...at, whole.length].map((end, index) => whole.slice(at[index - 1] ?? 0, end));
}

async function play(own: Case): Promise<{ harness: SessionHarness; said: readonly string[] }> {
  const harness = new SessionHarness({ target: own.target });
  const whole = firstMessage(own);
  const first = own.cut === null ? whole : whole.slice(0, Math.floor(whole.length * own.cut));
  const said = [first];
  harness.message(divide(first, own.pieces), { kind: own.cut === null ? 'stop' : 'length' });
  await harness.wait(2000);
  for (let round = 0; round < ROUNDS; round += 1) {
    const prompts = harness.prompts.length;
    if (harness.file !== null || prompts === 0 || harness.state.endsWith('paused')) break;
    const reply = replyOf(harness, own, round);
    said.push(reply);
    harness.message(divide(reply, own.pieces));
    await harness.wait(2000);
  }
  return { harness, said };
}

function told({ harness, said }: Awaited<ReturnType<typeof play>>): string {
  const { prompts, session } = harness;
  return JSON.stringify({ said, prompts, seams: session.seams, aside: harness.aside }, null, 1);
}

const settings = { numRuns: RUNS, ...(SEED === undefined ? {} : { seed: Number(SEED) }) };

test('B: whatever the manners, the file is the document, or the session names what is unsure, or it waits', async () => {
  await fc.assert(
    fc.asyncProperty(cases, async (own) => {
      const played = await play(own);
      const { file, session } = played.harness;
      if (file === null || file === own.document) return;
      // KEEP keeps a last line as it stands, without an ending too.
      if (`${file}\n` === own.document && played.said.some((text) => text.includes('KEEP'))) return;
      const { fence_stripped, warnings } = receiptNotesOf(session);
      // A fence around code is left out without a question, and told.
      if (fence_stripped || warnings.includes('ended_after_cut')) return;
      if (session.seams.some(({ status }) => status === 'unverified')) return;
      // A DONE behind the document that the receipt calls a part of the file.
      const lines = file.split('\n');
      const upTo = (line: number): string => lines.slice(0, line - 1).join('\n');
      if (session.innerDoneLines.some((line) => `${upTo(line)}\n`.includes(own.document))) return;
      expect(file, told(played)).toBe(own.document);
    }),
    settings,
  );
}, 120_000);

test('S3: nothing that came as content is lost, whatever is answered', async () => {
  await fc.assert(
    fc.asyncProperty(cases, async (own) => {
      const played = await play(own);
      const { content, aside, chat, held } = played.harness;
      const kept = content + aside + chat + held;
      const [first = ''] = played.said;
      const words = first.match(/n\d+n|hope|Here|Sure|Certainly|好的/gu) ?? [];
      expect(
        words.filter((word) => !kept.includes(word)),
        told(played),
      ).toEqual([]);
    }),
    settings,
  );
}, 120_000);
