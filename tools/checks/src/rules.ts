import { dirname } from 'node:path';
import { isText, type Finding, type Repository } from './repository.ts';

const RULES = 'docs/reference/rules.md';
const THIS = 'tools/checks/src/rules.ts';

/** `R047`, `P7b`, `B16`, and `§1.4a rule 9`. */
const CITED =
  /(?<![\w\\+#])([RPABC]\d{1,3}[a-c]?)(?!\w)|§ ?(\d[\d.]*\d?[a-z]?)(?:,? rules? (\d+))?/g;

/** A line of a module's header that numbers one of its invariants. */
const INVARIANT = /^\s*(?:\*|\/\/) +([A-Z]\d{1,2})[.:]? +\S/gm;

/** What has the form of a rule's number and is something else. */
const NO_RULES: Readonly<Record<string, readonly string[]>> = {
  // Bytes and control characters.
  A0: ['packages/contracts/src/text/surrogates.ts'],
  C0: [
    'apps/cli/src/terminal/',
    'packages/contracts/src/text/',
    'packages/trace-store/src/render/',
  ],
  // Parts of the address of a chat hook.
  B0: ['packages/trace-store/src/safety/redaction.test.ts'],
  B00: ['packages/trace-store/src/traces/secrets.test.ts'],
  // Sections of the document in which the flat form of an action was described.
  '§0.7': ['packages/protocols/src/controller/'],
};

/** Whoever reads a number in the sources can look it up: in the rules, or in the header of that module. */
export function checkRules(repository: Repository): Finding[] {
  const findings: Finding[] = [];
  const known = numbersIn(repository.has(RULES) ? repository.read(RULES) : '');
  const invariants = new Map<string, Set<string>>();
  const files = repository.files.filter(
    (file) => /\.(?:ts|mjs|md)$/.test(file) && file !== RULES && file !== THIS,
  );
  for (const file of files) {
    const folder = dirname(file);
    const numbered = invariants.get(folder) ?? new Set();
    for (const [, number = ''] of repository.read(file).matchAll(INVARIANT)) numbered.add(number);
    invariants.set(folder, numbered);
  }
  for (const file of files) {
    const text = repository.read(file);
    if (!isText(text)) continue;
    for (const number of numbersIn(text)) {
      if (known.has(number) || invariants.get(dirname(file))?.has(number)) continue;
      if (NO_RULES[number]?.some((path) => file.startsWith(path))) continue;
      findings.push({
        check: 'rules',
        file,
        message: `cites ${number}, which ${RULES} does not have`,
      });
    }
  }
  return findings;
}

function numbersIn(text: string): Set<string> {
  const numbers = new Set<string>();
  for (const [, rule, section, ofSection] of text.matchAll(CITED)) {
    if (rule !== undefined) numbers.add(rule);
    else numbers.add(`§${section}${ofSection === undefined ? '' : ` rule ${ofSection}`}`);
  }
  return numbers;
}
