import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from 'vitest';

import { isOmission } from './omission-line.ts';

describe('R249: lines that stand for text that was left out', () => {
  it.each([
    '// ... rest of the code unchanged',
    '// ...rest of the file remains the same...',
    '  // … rest of the component stays the same …',
    '# ... existing code ...',
    '# ... (rest of the implementation) ...',
    '/* unchanged */',
    '/* ... existing styles ... */',
    '{/* ... rest of the JSX unchanged ... */}',
    '{/* existing content */}',
    '<!-- rest of file -->',
    '<!-- ... existing markup ... -->',
    '-- ... remaining columns unchanged',
    '; ... rest of the config',
    '% ... remaining definitions unchanged ...',
    "' ... other methods unchanged",
    'REM ... rest of the script',
    '(* ... rest unchanged ... *)',
    '{- ... existing code ... -}',
    '{# ... rest of the template ... #}',
    '<%# ... existing content ... %>',
    '@* ... rest of the page ... *@',
    ' * ... remaining methods unchanged ...',
    '// rest of the code remains unchanged',
    '// Rest of your existing code here',
    '// The rest of the function is unchanged.',
    '// existing code here',
    '// Keep existing imports unchanged',
    '// other methods remain the same',
    '// implementation omitted for brevity',
    '# no changes below',
    '// remaining code...',
    '// [rest of the file unchanged]...',
    '[... rest of the document unchanged ...]',
    '(... remaining sections omitted for brevity ...)',
    '... (rest of the file unchanged)',
    '... existing content ...',
    '// ... restlicher Code unverändert',
    '# ... bestehender Code ...',
    '// ... reste du code inchangé',
    '// ... resto del código sin cambios',
    '// ... restante do código',
    '// ... resto del codice invariato',
    '// ... остальной код без изменений',
    '// ... 其余代码保持不变',
    '// 省略其余代码',
    '# ... 既存のコード ...',
    '// ... 残りのコード',
    '// 기존 코드 ...',
  ])('%s', (line) => {
    expect(isOmission(line)).toBe(true);
    expect(isOmission(`\t${line} \r`)).toBe(true);
  });

  it.each([
    '',
    '...',
    '// ...',
    '# ...',
    'const rest = value; // unchanged',
    '...rest,',
    '...existing.options,',
    '// ...rest,',
    '  //   ...existing,',
    '// Sends the rest of the arguments to the function.',
    '// The existing file wins over the new one',
    '// Valid text is unchanged by this.',
    '// Keeps the same order as before the call, since others rely on it...',
    '# If the rest of the file is empty, stop here',
    ' * unchanged.',
    ' * the rest of the file',
    '#include <existing/code.h>',
    '#!/bin/sh ... rest',
    '- ... and the rest of the story, unchanged by time, was told in the hall that evening',
    'The rest of the code is unchanged.',
    'Loading ... please wait',
    '// TODO: handle other cases',
    '<Rest of="list" />',
    '--existing-code',
    '"... rest of the code",',
    'x'.repeat(500),
  ])('not %j', (line) => {
    expect(isOmission(line)).toBe(false);
  });
});

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const SOURCE = /\.(?:[cm]?[jt]sx?|css|html|md|json|ya?ml|py|sh)$/u;

describe('R249: real files', () => {
  it('of this repository and of what it depends on have next to none', async ({ annotate }) => {
    const files = [
      ...sourcesBelow(join(ROOT, 'packages'), 1500),
      ...sourcesBelow(join(ROOT, 'docs'), 500),
      ...sourcesBelow(join(ROOT, 'node_modules', '.pnpm'), 2500),
    ];
    let lines = 0;
    const found: string[] = [];
    for (const file of files) {
      for (const line of readFileSync(file, 'utf8').split('\n')) {
        lines += 1;
        if (isOmission(line)) found.push(`${file.slice(ROOT.length)}: ${line.trim()}`);
      }
    }
    await annotate(`${found.length} of ${lines} lines in ${files.length} files are taken for one`);
    expect(lines).toBeGreaterThan(100_000);
    expect(found.length, found.join('\n')).toBeLessThanOrEqual(lines / 100_000);
  });
});

function sourcesBelow(folder: string, most: number): readonly string[] {
  const files: string[] = [];
  const folders = [folder];
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    for (const entry of readdirSync(next, { withFileTypes: true })) {
      const path = join(next, entry.name);
      if (entry.isDirectory() && entry.name !== '.git') folders.push(path);
      else if (entry.isFile() && SOURCE.test(entry.name)) files.push(path);
      if (files.length >= most) return files;
    }
  }
  return files;
}
