// `npm run api`: compares docs/reference/api with what the packages export; `-- --write` writes it anew.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { reportOf } from './src/api-report.ts';

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const folder = join(root, 'docs/reference/api');
const write = process.argv.includes('--write');
mkdirSync(folder, { recursive: true });

let changed = 0;
for (const name of readdirSync(join(root, 'packages')).toSorted()) {
  const file = join(folder, `${name}.md`);
  const report = pageOf(name);
  if (write) {
    writeFileSync(file, report);
    continue;
  }
  const kept = read(file);
  if (kept === report) continue;
  changed += 1;
  process.stderr.write(`docs/reference/api/${name}.md is not what @orion/${name} exports:\n`);
  for (const line of difference(kept, report)) process.stderr.write(`  ${line}\n`);
}
if (changed > 0) {
  process.stderr.write('If that is meant: `npm run -s build && npm run api -- --write`.\n');
}
process.exitCode = changed === 0 ? 0 : 1;

function pageOf(name: string): string {
  const manifest = JSON.parse(
    readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'),
  ) as { readonly exports: Readonly<Record<string, { readonly types?: string }>> };
  const parts = Object.entries(manifest.exports).flatMap(([path, { types }]) => {
    // An entry for the tools of this repository alone.
    if (types === undefined) return [];
    const title = `@orion/${name}${path === '.' ? '' : path.slice(1)}`;
    return `## ${title}\n\n\`\`\`ts\n${reportOf(join(root, 'packages', name, types))}\n\`\`\`\n`;
  });
  return `# What @orion/${name} exports\n\nWritten by \`npm run api -- --write\`; a change of it is a change of the interface.\n\n${parts.join('\n')}`;
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** Lines that only one of them has: enough to recognise the change. */
function difference(before: string, after: string): readonly string[] {
  const old = new Set(before.split('\n'));
  const now = new Set(after.split('\n'));
  return [
    ...[...old].filter((line) => !now.has(line)).map((line) => `- ${line}`),
    ...[...now].filter((line) => !old.has(line)).map((line) => `+ ${line}`),
  ].slice(0, 40);
}
