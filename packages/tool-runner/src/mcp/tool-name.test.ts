import { expect, test } from 'vitest';

import { mcpToolName } from './tool-name.ts';

test('spells a tool as providers accept it, and says which server has it', () => {
  expect(mcpToolName('files', 'read_text-file')).toBe('mcp__files__read_text-file');
});

test('keeps names apart that would become one', () => {
  const server = 's'.repeat(32);
  const names = [
    mcpToolName('a', 'read.file'),
    mcpToolName('a', 'read file'),
    mcpToolName('a', 'read_file'),
    ...['x', 'y'].map((end) => mcpToolName(server, 't'.repeat(60) + end)),
    ...['x', 'y'].map((end) => mcpToolName(`${server.slice(1)}${end}`, 't'.repeat(60))),
    mcpToolName('a', ''),
    mcpToolName('a', '\u202e'),
  ];
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/u);
});
