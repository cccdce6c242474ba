import { dirname, join, normalize } from 'node:path';
import type { Finding, Repository } from './repository.ts';

/** Pages about the rules themselves. */
const NUMBERED = /^docs\/reference\/(?:rules|glossary)\.md$/;
const PATH_IN_CODE = /^(?:packages|apps|tools|docs|\.ci|\.changeset)(?:\/[\w.@-]+)*\/?$/;

/**
 * Prose about the layout drifts unless something reads it: every path, link, script and anchor
 * that a document names has to exist, and users are not sent to numbers they cannot look up.
 */
export function checkDocs(repository: Repository): Finding[] {
  const findings: Finding[] = [];
  const { scripts = {} } = JSON.parse(repository.read('package.json')) as {
    scripts?: Record<string, string>;
  };
  const exists = (path: string): boolean =>
    repository.files.includes(path) || repository.files.some((file) => file.startsWith(`${path}/`));

  for (const file of repository.files) {
    if (!file.endsWith('.md') || file.endsWith('CHANGELOG.md')) continue;
    const text = repository.read(file);
    const report = (message: string): void => {
      findings.push({ check: 'docs', file, message });
    };
    for (const [, code = ''] of text.matchAll(/`([^`\n]+)`/g)) {
      if (PATH_IN_CODE.test(code) && !exists(code.replace(/\/$/, ''))) {
        report(`\`${code}\` does not exist`);
      }
    }
    for (const [, script = ''] of text.matchAll(/\bnpm run (?:-s )?([\w:-]+)/g)) {
      if (!(script in scripts)) report(`\`npm run ${script}\` is no script of package.json`);
    }
    for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/i.test(target)) continue;
      const [path = '', anchor] = target.split('#');
      const linked = path === '' ? file : normalize(join(dirname(file), path)).replace(/\/$/, '');
      if (!exists(linked)) report(`the link ${target} leads nowhere`);
      else if (anchor && linked.endsWith('.md') && !anchors(repository.read(linked)).has(anchor)) {
        report(`the link ${target} names a heading that is not there`);
      }
    }
    if (!NUMBERED.test(file) && /\bR\d{3}\b/.test(text))
      report('speaks in requirement numbers; say what is meant');
  }
  return findings;
}

/** The anchors that common Markdown renderers give to headings. */
function anchors(text: string): Set<string> {
  return new Set(
    [...text.matchAll(/^#+ +(.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replace(/\s/g, '-'),
    ),
  );
}
