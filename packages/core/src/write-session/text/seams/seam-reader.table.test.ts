/**
 * Replies in every dress around a quotation, and the verdict on each, in one table. Other tests say what matters of it;
 * this one notices any other change. With `-u` the file is written anew.
 */
import { expect, test } from 'vitest';

import { readReply } from '../testing/continuation.ts';
import { unitsOf } from '../testing/splits.ts';
import type { TargetKind } from '../target-kind.ts';

const ONE = 'the first line of the text\nthe second line of the text\n';
const TWO = 'the third line of the text\nthe fourth line of the text\n';

/** What is saved, and the end of it that the reply repeats, from more to less. */
const SAVED: Readonly<Record<string, readonly [saved: string, quotations: readonly string[]]>> = {
  'whole lines': [ONE + TWO, [ONE + TWO, TWO, 'the fourth line of the text\n', TWO + TWO, '']],
  'an open line': [`${ONE}${TWO}the fi`, [`${TWO}the fi`, 'the fi', `${TWO}the fi${TWO}the fi`]],
  'blank lines at the end': [`${ONE}${TWO}\n\n`, [`${TWO}\n\n`, `${TWO}\n`, TWO]],
  'a carriage return at the end': [
    `${ONE}${TWO}the fifth`.replaceAll('\n', '\r\n') + '\r',
    [`${TWO}the fifth`.replaceAll('\n', '\r\n') + '\r', `${TWO}the fifth`],
  ],
  'an open fence': [`${ONE}\`\`\`sh\n${TWO}`, [TWO, `\`\`\`sh\n${TWO}`]],
};
const BEFORE: Readonly<Record<string, string>> = {
  nothing: '',
  blank: '\n',
  chat: 'Sure.\n',
  'chat, chat': 'Sure.\n\nHere it goes on:\n',
  'chat, chat, chat': 'Sure.\nOf course.\nHere it goes on:\n',
  fence: '```\n',
  'chat, fence': 'Here it goes on:\n```md\n',
  tag: '<tail-7f3a>\n',
};
const BEHIND: Readonly<Record<string, string>> = {
  nothing: '',
  text: 'and more\n',
  'text, fence': 'and more\n```\n',
  'fence, text': '```\nand more\n',
  'fence, chat': '```\nHere is the rest:\nand more\n',
  'fence, DONE': '```\n\nDONE\n',
  'blank, fence': '\n```\nand more\n',
  'tag, text': '</tail-7f3a>\nand more\n',
  'tag, chat': '</tail-7f3a>\nHere is more.\n',
};
const KINDS: readonly TargetKind[] = ['code', 'prose', 'markdown'];

test.for(Object.entries(SAVED))('%s', async ([name, [saved, quotations]]) => {
  const results = quotations.flatMap((quotation) =>
    Object.entries(BEFORE).flatMap(([before, beforeText]) =>
      Object.entries(BEHIND).flatMap(([behind, behindText]) =>
        KINDS.map((kind) => {
          const reply = beforeText + quotation + behindText;
          const verdict = readReply(saved, reply, { kind });
          if (kind === 'code') expect(readReply(saved, unitsOf(reply), { kind })).toEqual(verdict);
          return { row: `${before} | ${behind}`, kind, told: JSON.stringify(verdict), quotation };
        }),
      ),
    ),
  );
  const lines = [...Map.groupBy(results, ({ quotation }) => quotation)].flatMap(
    ([quotation, own]) => [
      `== ${JSON.stringify(quotation)}`,
      ...[...Map.groupBy(own, ({ told }) => told)].flatMap(([told, rows]) => [
        told,
        ...[...Map.groupBy(rows, ({ row }) => row)].map(([row, kinds]) =>
          kinds.length === KINDS.length
            ? `  ${row}`
            : `  ${row} (${kinds.map(({ kind }) => kind).join(', ')})`,
        ),
      ]),
    ],
  );
  await expect([`saved: ${JSON.stringify(saved)}`, ...lines, ''].join('\n')).toMatchFileSnapshot(
    `__snapshots__/replies/${name.replaceAll(' ', '-')}.txt`,
  );
});
