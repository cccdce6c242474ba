import { expect, test } from 'vitest';
import * as exported from './index.ts';

test('exports what others build on, and nothing else', () => {
  expect(Object.keys(exported).sort()).toEqual([
    'MAX_ARGUMENT_BYTES',
    'MAX_ARGUMENT_DEPTH',
    'READ_FILE_MAX_BYTES',
    'READ_FILE_MAX_LINES',
    'createReadFileTool',
    'createToolRegistry',
    'defineTool',
  ]);
});
