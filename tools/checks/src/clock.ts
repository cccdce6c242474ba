import { parseSync, Visitor, type Expression } from 'oxc-parser';
import type { Finding, Repository } from './repository.ts';

const TIMELESS = /^packages\/(core|protocols)\/src\/.*\.ts$/;
const TEST = /\.test\.ts$|\/testing\//;

/**
 * `new Date()` and `Date()` read the clock; `new Date(milliseconds)` does not. The linter can
 * forbid a name or a property, not a call without arguments, so this one is ours.
 */
export function checkClock(repository: Repository): Finding[] {
  const findings: Finding[] = [];
  for (const file of repository.files) {
    if (!TIMELESS.test(file) || TEST.test(file)) continue;
    const source = repository.read(file);
    if (!source.includes('Date')) continue;
    const report = (start: number): void => {
      const line = source.slice(0, start).split('\n').length;
      findings.push({
        check: 'clock',
        file: `${file}:${line}`,
        message: 'reads the clock; take the time from the Clock that is passed in',
      });
    };
    new Visitor({
      NewExpression(node) {
        if (isDate(node.callee) && node.arguments.length === 0) report(node.start);
      },
      CallExpression(node) {
        if (isDate(node.callee)) report(node.start);
      },
    }).visit(parseSync(file, source).program);
  }
  return findings;
}

function isDate(callee: Expression): boolean {
  return callee.type === 'Identifier' && callee.name === 'Date';
}
