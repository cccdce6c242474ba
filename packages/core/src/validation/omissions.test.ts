import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { findOmissions } from './omissions.ts';
import { CHUNK_SIZES, inChunks } from './testing/bytes.ts';

const source = (text: string, size = 1000) => inChunks(Buffer.from(text), size);
const OMISSION = '// ... rest of the code unchanged';

describe('R249: omissions of a text', () => {
  it('are told with their lines, whatever the line endings', async () => {
    const text = `one\n  ${OMISSION}\r\nthree\n\n# ... existing code ...`;
    for (const size of CHUNK_SIZES) {
      expect(await findOmissions(source(text, size), null)).toEqual([
        { line: 2, text: OMISSION },
        { line: 5, text: '# ... existing code ...' },
      ]);
    }
  });

  it('are none where the file has had the same line before', async () => {
    const previous = source(`a\n\t${OMISSION}\nb\n`);
    const text = `x\n${OMISSION}\n<!-- rest of file -->\n`;
    expect(await findOmissions(source(text), previous)).toEqual([
      { line: 3, text: '<!-- rest of file -->' },
    ]);
  });

  it('are twenty at most', async () => {
    const found = await findOmissions(source(`${OMISSION}\n`.repeat(5000)), null);
    expect(found.map(({ line }) => line)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
  });

  it('do not depend on how the text is divided', async () => {
    const lines = fc.constantFrom(
      OMISSION,
      '\t<!-- … rest of file … -->  ',
      '/* unchanged */',
      '{/* existing content */}',
      '// 既存のコード ...',
      `// ${'x'.repeat(700)}`,
      'const x = 1;',
      '',
      '...',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(lines, { maxLength: 12 }), async (written) => {
        const text = written.join('\n');
        const whole = await findOmissions(source(text, 100_000), null);
        for (const size of CHUNK_SIZES) {
          expect(await findOmissions(source(text, size), null)).toEqual(whole);
        }
      }),
      { numRuns: 200 },
    );
  });
});
