import { GOOD } from './answers.ts';
import type { Outcome, Task } from './campaign.ts';
import { DOCUMENTS } from './documents.ts';
import type { Document } from './documents.ts';
import { FIRSTS } from './firsts.ts';

/** Files that begin or end like something that is asked about, and must not be: a good model is asked nothing. */
const LOOKALIKES: readonly (readonly [target: string, text: string])[] = [
  ['usage.txt', 'Usage:\n\n  lantern serve\n'],
  ['complaint.txt', 'Dear Sir or Madam:\n\nThe lamp does not light.\n'],
  ['compose.yaml', 'version: 2\n\nservices: {}\n'],
  ['Makefile', 'all:\n\n\ttouch page\n'],
  ['run.py', 'def main():\n\n    return 1\n'],
  ['shape.py', 'class A:\n\n    side = 1\n'],
  ['song.txt', '[Verse 1:]\n\nThe ships are in, the lamps are lit\n'],
  ['play.txt', 'JOHN:\n\nWho is there?\n'],
  ['mail.eml', 'Subject: x\n\nSee you on Sunday.\n'],
  ['title.md', '# Title\n\nSome text.\n'],
  ['front.md', '---\n\ntitle: x\n'],
  ['start.sh', '#!/bin/sh\n\nlantern serve\n'],
  ['data.json', '{\n\n  "port": 80\n}\n'],
  ['page.html', '<!doctype html>\n\n<p>Hello</p>\n'],
  ['LICENSE', 'MIT License\n\nPermission is hereby granted.\n'],
  ['table.csv', 'a,b\n\n1,2\n'],
  ['tasks.txt', 'TODO:\n\npaint the door\n'],
  ['paper.txt', 'Abstract:\n\nWe measured lamps.\n'],
  ['query.sql', '-- Here is:\n\nselect 1;\n'],
  ['essay.txt', 'Here is New York\n\nThe city is loud.\n'],
  ['novel.txt', 'Of course, nobody believed him.\nHe had come by train.\n\nThe end.\n'],
  ['loop.sh', 'for page in *.md; do\n  gzip "$page"\ndone\n'],
  ['sentence.txt', 'The door is painted, and the work is done.\n'],
  ['word.txt', 'What is left: nothing, all of it is DONE\n'],
  ['remark.txt', 'The lamp was repaired.\n\nI hope this helps you.\n'],
  ['thinking.txt', 'He wrote <think> on the wall.\n'],
  ['inside.txt', 'milk\nDONE\nbread\n'],
];

export function falseAlarmTasks(): readonly Task[] {
  const documents: readonly Document[] = [
    ...DOCUMENTS,
    ...LOOKALIKES.map(([target, text]) => ({ name: target, target, text })),
  ];
  const clean = FIRSTS.filter(({ name }) => name === 'clean' || name === 'own marker');
  return clean.flatMap((first) => documents.map((document) => ({ first, document, ways: [GOOD] })));
}

/** The files about which a question was put, or that are not right. */
export function alarmsOf(outcomes: readonly Outcome[]): readonly string[] {
  return outcomes
    .filter(({ verdict, exchanges }) => verdict !== 'right' || exchanges.length > 1)
    .map(
      ({ first, document, verdict, why, exchanges }) =>
        `${document.target} (${first.name}): ${verdict} ${why} ${exchanges[1]?.prompt.split('\n', 1)[0] ?? ''}`,
    );
}
