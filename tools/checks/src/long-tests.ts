import { parseSync, Visitor, type Argument } from 'oxc-parser';
import type { Finding, Repository } from './repository.ts';

const OF_A_FILE = /^\/\/ @module-tag long$/m;
const CONDITIONAL = /^(?:test|it)\b[^]*\b(?:skipIf|runIf)\(/;

/** `skipIf` and `runIf` decide alone whether a test runs: one that is tagged as long would always run where they let it. */
export function checkLongTests(repository: Repository): Finding[] {
  const findings: Finding[] = [];
  for (const file of repository.files) {
    if (!file.endsWith('.test.ts')) continue;
    const source = repository.read(file);
    if (!/\b(?:skipIf|runIf)\(/.test(source)) continue;
    const isLong = OF_A_FILE.test(source);
    const isTagged = ({ type, start, end }: Argument): boolean =>
      type === 'ObjectExpression' && /\btags: \[[^\]]*'long'/.test(source.slice(start, end));
    new Visitor({
      CallExpression({ callee, arguments: given, start }) {
        if (!CONDITIONAL.test(source.slice(callee.start, callee.end))) return;
        if (!isLong && !given.some(isTagged)) return;
        findings.push({
          check: 'long-tests',
          file: `${file}:${source.slice(0, start).split('\n').length}`,
          message: 'runs although it is tagged as long; ask `skip` in its body instead',
        });
      },
    }).visit(parseSync(file, source).program);
  }
  return findings;
}
