import { spawnSync } from 'node:child_process';

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { createProgram } from '../command-line/program.ts';
import { createFakeContext } from '../testing/fake-context.ts';
import { manPages } from './man-pages.ts';
import { roffText, term } from './roff.ts';

const program = createProgram(createFakeContext({}), () => undefined);
const pages = new Map(manPages(program, '1.2.3').map(({ name, text }) => [name, text]));

describe('the pages', () => {
  it('are one for the program and one for each command that the help shows', () => {
    const commands = program.createHelp().visibleCommands(program);
    const names = commands.map((command) => command.name()).filter((name) => name !== 'help');
    expect([...pages.keys()]).toEqual(['orion.1', ...names.map((name) => `orion-${name}.1`)]);
    expect(names).not.toContain('complete');
  });

  it('have every argument and option of the help, those of inner commands too', () => {
    for (const command of program.createHelp().visibleCommands(program)) {
      if (command.name() === 'help') continue;
      const text = pages.get(`orion-${command.name()}.1`) ?? '';
      for (const each of [command, ...command.commands]) {
        const help = each.createHelp();
        for (const option of help.visibleOptions(each)) {
          expect(text).toContain(`\n${term(help.optionTerm(option))}\n`);
          expect(text).toContain(`\n${roffText(help.optionDescription(option))}\n`);
        }
        for (const argument of help.visibleArguments(each)) {
          expect(text).toContain(`\n${term(argument.name())}\n`);
        }
      }
    }
  });

  it('have what the help says below the options, each part under its heading', () => {
    const run = pages.get('orion-run.1') ?? '';
    const headings = [...run.matchAll(/^\.SH (.+)$/gmu)].map(([, heading]) => heading);
    expect(headings).toEqual([
      'NAME',
      'SYNOPSIS',
      'DESCRIPTION',
      'OPTIONS',
      'ENVIRONMENT',
      'EXIT STATUS',
      'EXAMPLES',
      'SEE ALSO',
    ]);
    expect(run).toContain('.TH ORION-RUN 1 "" "orion 1.2.3" "Orion"');
    expect(run).toContain('\\fBorion run\\fR \\fI[options]\\fR\\fB \\fR\\fI[prompt]\\fR');
    expect(run).toContain('.SH EXAMPLES\n.nf\n$ orion run \\-\\-model gpt\\-4.1');
    // On the line of its heading.
    expect(pages.get('orion-trust.1')).toContain('.SH EXIT STATUS\n0 done; 1 failure; 2 nothing');
    expect(pages.get('orion-trace.1')).toContain('.SH ORION TRACE SHOW\n\\fBorion trace show\\fR');
    expect(pages.get('orion-trace.1')).toContain(
      '\n.PP\nDraw one turn as a timeline: phases, model calls, tools and writes.\n.TP\n',
    );
    expect(pages.get('orion-trace.1')).not.toContain('ORION TRACE HELP');
    expect(pages.get('orion.1')).toContain('\n.TP\n\\fBorion\\-run\\fR(1)\n');
    expect(pages.get('orion.1')?.trimEnd()).toMatch(/\\fBorion\\-demo\\fR\(1\)$/u);
    expect(run).toMatch(/\.SH SEE ALSO\n\\fBorion\\fR\(1\),\n(?![^]*orion\\-run)/u);
  });
});

/** What troff reads as a request, an escape or a drawing, and what it cannot read. */
const TROUBLE = [
  '\\',
  '.',
  "'",
  '"',
  '-',
  '`',
  '^',
  '~',
  '\n',
  '\t',
  ' ',
  'f',
  '(',
  '\0',
  'é',
  '\u{1F600}',
  '\uD800',
];

describe('a text', () => {
  it('has each character that troff would change by its name', () => {
    expect(roffText('a\\b-c`d\'e"f^g~h')).toBe('a\\eb\\-c\\(gad\\(aqe\\(dqf\\(hag\\(tih');
    expect(roffText('.a\n.b c.d é \u{1F600}')).toBe('\\&.a\n\\&.b c.d \\[u00E9] \\[u1F600]');
  });

  it('is never a request or an escape of troff', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...TROUBLE) }), (text) => {
        const set = roffText(text);
        expect(set).not.toMatch(/^[.']/mu);
        expect(set).toMatch(/^[\n\t\u0020-\u007E]*$/u);
        // Every backslash begins one of ours.
        expect(
          set.replaceAll(/\\(?:[e\-&]|\((?:ga|aq|dq|ha|ti)|\[u[\dA-F]{4,6}\])/gu, ''),
        ).not.toContain('\\');
      }),
    );
  });
});

/** The page as it is read, and the warnings; null where there is no groff. */
function groff(text: string): { readonly page: string; readonly warnings: string } | null {
  const { stdout, stderr, error } = spawnSync(
    'groff',
    ['-man', '-Tutf8', '-ww', '-rLL=500n', '-P-cbou'],
    { input: text, encoding: 'utf8' },
  );
  return error === undefined ? { page: stdout, warnings: stderr } : null;
}

describe.skipIf(groff('') === null)('groff', () => {
  it('sets a text as it was', () => {
    const text = `.TH x 'y' \\fB "z" \`a\` ^~- \u00E9 \u{1F600} end`;
    expect(groff(`.TH T 1\n.SH NAME\n${roffText(text)}\n`)?.page).toContain(text);
  });

  it('sets every page without a warning', () => {
    // All in one run: each start of groff takes as long as a page.
    expect(groff([...pages.values()].join('\n'))?.warnings).toBe('');
  });
});
