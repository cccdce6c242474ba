import { expect, test } from 'vitest';
import type { TargetKind } from '../target-kind.ts';
import { anchorFor, joinedContent, readReply } from '../testing/continuation.ts';

/** Hazard: a rule of §1.4a (R047) that the code does not follow. */

const ROWS = Array.from(
  { length: 30 },
  (_, index) => `row ${String(index + 1).padStart(2, '0')}\n`,
).join('');
const ANCHOR = 'row 26\nrow 27\nrow 28\nrow 29\nrow 30\n';

type Joined = {
  readonly rule: string;
  readonly saved: string;
  readonly reply: string;
  readonly content: string;
  readonly kind?: TargetKind;
  readonly facts?: object;
};

const JOINED: readonly Joined[] = [
  {
    rule: 'A4: the anchor and the next rows',
    saved: ROWS,
    reply: `${ANCHOR}row 31\nDONE\n`,
    content: `${ROWS}row 31\n`,
    facts: { via: 'anchor', linesDropped: 5, setAside: '', conversion: 'none' },
  },
  {
    rule: '4: blank lines first',
    saved: ROWS,
    reply: `\n\n${ANCHOR}row 31\n`,
    content: `${ROWS}row 31\n`,
    facts: { via: 'anchor', setAside: '' },
  },
  {
    rule: '4: two chat lines and a fence',
    saved: ROWS,
    reply: `Sure!\n\nHere is the rest:\n\`\`\`\n${ANCHOR}row 31\n\`\`\`\n`,
    content: `${ROWS}row 31\n`,
    facts: {
      setAside: 'Sure!\n\nHere is the rest:\n```\n',
      wrappingFence: { character: '`', length: 3, info: '' },
    },
  },
  {
    rule: '4: an echoed tag that closes behind the quotation',
    saved: ROWS,
    reply: `<tail-7f3a>\n${ANCHOR}</tail-7f3a>\nrow 31\n`,
    content: `${ROWS}row 31\n`,
    facts: { setAside: '<tail-7f3a>\n</tail-7f3a>\n' },
  },
  {
    rule: '4: as many blank lines are dropped as are saved, no more',
    saved: `${ROWS}\n\n`,
    reply: `${ANCHOR}\n\n\n\nrow 31\n`,
    content: `${ROWS}\n\n\n\nrow 31\n`,
    facts: { linesDropped: 7 },
  },
  {
    rule: '4: fewer blank lines than are saved',
    saved: `${ROWS}\n\n`,
    reply: `${ANCHOR}row 31\n`,
    content: `${ROWS}\n\nrow 31\n`,
  },
  {
    rule: '4: the text starts with the open line',
    saved: `${ROWS}\nrow 3`,
    reply: `${ANCHOR}\nrow 31\n`,
    content: `${ROWS}\nrow 31\n`,
    facts: { linesDropped: 7 },
  },
  {
    rule: '4: the first line may lack its indentation',
    saved: 'def f():\n    total = compute_total(items)\n    report(total, items)\n',
    reply: 'total = compute_total(items)\n    report(total, items)\n    return total\n',
    content:
      'def f():\n    total = compute_total(items)\n    report(total, items)\n    return total\n',
  },
  {
    rule: '5: a restart',
    saved: ROWS,
    reply: `${ROWS}row 31\n`,
    content: `${ROWS}row 31\n`,
    facts: { via: 'restart', linesDropped: 30 },
  },
  {
    rule: '5: a unique part of the tail with 24 ink',
    saved: 'first line of the text\nsecond line of it\nthe third line is a long one indeed\n',
    reply: 'the third line is a long one indeed\nfourth\n',
    content:
      'first line of the text\nsecond line of it\nthe third line is a long one indeed\nfourth\n',
    facts: { via: 'tail', linesDropped: 1 },
  },
  {
    rule: '6: the code fence of Markdown content, opened again for the quotation',
    saved: `\`\`\`js\n${ROWS}`,
    reply: `\`\`\`js\n${ANCHOR}row 31\n\`\`\`\n\nText.\nDONE\n`,
    kind: 'markdown',
    content: `\`\`\`js\n${ROWS}row 31\n\`\`\`\n\nText.\n`,
  },
  {
    rule: '6: a fence around all of the reply, Markdown with fences of its own',
    saved: `# Rows\n\n\`\`\`js\n${ROWS}`,
    reply: `\`\`\`\n${ANCHOR}row 31\n\`\`\`\n\nText.\n\`\`\`\nDONE\n`,
    kind: 'markdown',
    content: `# Rows\n\n\`\`\`js\n${ROWS}row 31\n\`\`\`\n\nText.\n`,
  },
  {
    rule: '5: a DONE line that is content',
    saved: 'Steps of the procedure:\nDONE\nanother step to take now\n',
    reply: 'Steps of the procedure:\nDONE\nanother step to take now\nlast\nDONE\n',
    content: 'Steps of the procedure:\nDONE\nanother step to take now\nlast\n',
  },
  {
    rule: '6: the closing line of a quotation is dropped',
    saved: ROWS,
    reply: `\`\`\`\n${ANCHOR}\`\`\`\nrow 31\n`,
    content: `${ROWS}row 31\n`,
    facts: { wrappingFence: null, setAside: '```\n```\n' },
  },
  {
    rule: '7: LF to CRLF',
    saved: ROWS.replaceAll('\n', '\r\n'),
    reply: `${ANCHOR}row 31\n`,
    content: `${ROWS}row 31\n`.replaceAll('\n', '\r\n'),
    facts: { conversion: 'lf_to_crlf' },
  },
  {
    rule: '7: CRLF to LF',
    saved: ROWS,
    reply: `${ANCHOR}row 31\n`.replaceAll('\n', '\r\n'),
    content: `${ROWS}row 31\n`,
    facts: { conversion: 'crlf_to_lf' },
  },
  {
    rule: '7: never in a file with mixed endings',
    saved: `first\r\n${ROWS}`,
    reply: `${ANCHOR}row 31\n`.replaceAll('\n', '\r\n'),
    content: `first\r\n${ROWS}row 31\r\n`,
    facts: { conversion: 'none' },
  },
  {
    rule: '7: a CR at the end of what is saved belongs to the next line ending',
    saved: `${ROWS.replaceAll('\n', '\r\n')}row 31\r`,
    reply: `${ANCHOR}row 31\nrow 32\n`,
    content: `${ROWS}row 31\nrow 32\n`.replaceAll('\n', '\r\n'),
  },
];

test.each(JOINED)('joined, rule $rule', ({ saved, reply, content, kind, facts }) => {
  const verdict = readReply(saved, reply, { kind: kind ?? 'code' });
  expect(verdict).toMatchObject({ kind: 'verified', ...facts });
  expect(joinedContent(saved, verdict)).toBe(content);
  // Rule 8: the same in every division.
  expect(readReply(saved, reply.split(''), { kind: kind ?? 'code' })).toEqual(verdict);
});

test('rule 7: without a repeated line ending the reply’s first one decides, however late it comes', () => {
  const line = Array.from({ length: 90 }, (_, index) => `"item ${index}"`).join(',');
  const saved = `[\r\n${line}`;
  const anchor = anchorFor(saved);
  const text = anchor.kind === 'characters' ? anchor.text : '';
  const reply = `${text},${'"more",'.repeat(600)}\n]\n`;
  const verdict = readReply(saved, reply);
  expect(verdict).toMatchObject({ kind: 'verified', conversion: 'lf_to_crlf' });
  expect(joinedContent(saved, verdict)).toBe(
    `${saved}${reply.slice(text.length).replaceAll('\n', '\r\n')}`,
  );
});

type Refused = {
  readonly rule: string;
  readonly saved: string;
  readonly reply: string;
  readonly reason: string;
  readonly kind?: TargetKind;
};

const EQUAL = 'one and the same line\n';

const REFUSED: readonly Refused[] = [
  {
    rule: '4: three chat lines',
    saved: ROWS,
    reply: `Sure!\nOk!\nHere:\n${ANCHOR}row 31\n`,
    reason: 'no_alignment',
  },
  { rule: '4: goes on at once', saved: ROWS, reply: 'row 31\nrow 32\n', reason: 'no_alignment' },
  {
    rule: '4: another line than the open one',
    saved: `${ROWS}row 3`,
    reply: `${ANCHOR}line 31\n`,
    reason: 'no_alignment',
  },
  {
    rule: '4: a line within the anchor left out',
    saved: ROWS,
    reply: ANCHOR.replace('row 28\n', '') + 'row 31\n',
    reason: 'no_alignment',
  },
  {
    rule: '5: part of the tail behind a chat line',
    saved: 'first line of the text\nsecond line of it\nthe third line is a long one indeed\n',
    reply: 'Here it is:\nthe third line is a long one indeed\nfourth\n',
    reason: 'no_alignment',
  },
  {
    rule: '4: a later line of the anchor without its indentation',
    saved: 'def f():\n    total = compute_total(items)\n    report(total, items)\n',
    reply: '    total = compute_total(items)\nreport(total, items)\n    return total\n',
    reason: 'no_alignment',
  },
  {
    rule: '5: part of the tail that is not unique',
    saved: 'the very same line in two places\nother\nfirst one\nthe very same line in two places\n',
    reply: 'the very same line in two places\nsomething new\n',
    reason: 'no_alignment',
  },
  {
    rule: '5: a repetitive anchor with more than one alignment',
    saved: EQUAL.repeat(100),
    reply: `${EQUAL.repeat(30)}end\n`,
    reason: 'several_alignments',
  },
  {
    rule: '5: equal lines that go on',
    saved: `the start\n${EQUAL.repeat(10)}`,
    reply: `the start\n${EQUAL.repeat(20)}end\n`,
    reason: 'several_alignments',
  },
  {
    rule: '6: the anchor twice',
    saved: ROWS,
    reply: `${ANCHOR}${ANCHOR}row 31\n`,
    reason: 'anchor_repeated',
  },
  {
    rule: '6: the anchor twice, with a sentence between',
    saved: ROWS,
    reply: `${ANCHOR}\nNow the rest:\n${ANCHOR}row 31\n`,
    reason: 'anchor_repeated',
  },
  {
    rule: '6: a fence around the quotation, Markdown',
    saved: ROWS,
    reply: `\`\`\`markdown\n${ANCHOR}\`\`\`\nrow 31\n`,
    kind: 'markdown',
    reason: 'fence_closes_behind_quotation',
  },
  {
    rule: '6: a second fence behind the quotation',
    saved: ROWS,
    reply: `\`\`\`\n${ANCHOR}\`\`\`\n\n\`\`\`\nrow 31\n\`\`\`\n`,
    reason: 'text_behind_quotation',
  },
  {
    rule: '4: the prompt again',
    saved: ROWS,
    reply: `Your message was cut off.\n<tail-7f3a>\n${ANCHOR}</tail-7f3a>\nYour next message must start with exactly these 3 lines. Then write the rest.\n`,
    kind: 'prose',
    reason: 'text_behind_quotation',
  },
  {
    rule: '4: the prompt again, whose first line quotes without a tag',
    saved: '1.4.2\n',
    reply:
      'Its first line must be:\n1.4.2\nYour message was cut off. 1 line of VERSION is saved.\n',
    kind: 'prose',
    reason: 'text_behind_quotation',
  },
  {
    rule: '4: an echoed tag that is not closed',
    saved: ROWS,
    reply: `<tail-7f3a>\n${ANCHOR}row 31\n`,
    reason: 'tag_not_closed',
  },
  {
    rule: '4: a few characters without their indentation',
    saved: '    when_',
    reply: 'when_alpha(1);\n',
    reason: 'no_alignment',
  },
  {
    rule: '4: no line ending behind a saved CR',
    saved: `${ROWS}row 31\r`,
    reply: `${ANCHOR}row 31 and more\n`,
    reason: 'no_alignment',
  },
];

test.each(REFUSED)('refused, rule $rule', ({ saved, reply, kind, reason }) => {
  const verdict = readReply(saved, reply, { kind: kind ?? 'code' });
  expect(verdict).toEqual({ kind: 'hopeless', reason });
  expect(readReply(saved, reply.split(''), { kind: kind ?? 'code' })).toEqual(verdict);
  expect(readReply(saved, reply, { kind: kind ?? 'code', readToEnd: true })).toEqual(verdict);
});

test.each([
  ['DONE', 'marker_only'],
  ['\n DONE'.replace(' ', ''), 'marker_only'],
  ['DONE 7f3a\n\n', 'marker_only'],
  ['DONE 0000\r\n', 'marker_only'],
  ['', 'blank'],
  [' \n\t\n', 'blank'],
  ['DONE.\n', 'hopeless'],
  ['done\n', 'hopeless'],
])('R030, R039 (a): the reply %j is %s', (reply, kind) => {
  expect(readReply(ROWS, reply)).toMatchObject({ kind });
  expect(readReply(ROWS, reply.split(''))).toMatchObject({ kind });
});

test('a reply that ends within its repetition is not joined', () => {
  expect(readReply(ROWS, 'row 26\nrow 27\nrow 2')).toMatchObject({ kind: 'hopeless' });
  expect(readReply(ROWS, `${ANCHOR}row 26\nrow 27\nrow 28\nrow 29\nrow 3`)).toEqual({
    kind: 'hopeless',
    reason: 'anchor_repeated',
  });
});

test('rule 5: while a restart is still possible, a unique anchor that also begins the file decides nothing', () => {
  const head = 'the first line of all of them\nthe second line of all of them\n';
  const middle = Array.from({ length: 9_000 }, (_, index) => `line ${index} in between\n`).join('');
  const saved = `${head}${middle}${head}`;
  // Here the anchor is unique in the last 128 Ki, and the reply can be either of the two for a while.
  const restarted = readReply(saved, `${saved}more\n`);
  expect(restarted).toMatchObject({ kind: 'hopeless' });
  expect(readReply(saved, `${head}line 0 in between\nline 1 in bet`)).toEqual({
    kind: 'hopeless',
    reason: 'several_alignments',
  });
  expect(readReply(saved, `${head}more\nline 0 in between\n`)).toMatchObject({
    kind: 'verified',
    rest: 'more\nline 0 in between\n',
  });
});
