import { expect, test } from 'vitest';
import { createToolNames } from './tool-names.ts';

test('a name that providers accept stays, and others come back as they were (R280)', () => {
  const names = ['read_file', 'tool_outputs.list', 'mcp/ä.b', 'x'.repeat(65), 'a-B_9'];
  const map = createToolNames(names);
  const wire = names.map((name) => map.toWire(name));
  expect(wire.slice(0, 3)).toEqual(['read_file', 'tool_outputs_list', 'mcp___b']);
  expect(wire[4]).toBe('a-B_9');
  for (const name of wire) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  expect(wire.map((name) => map.fromWire(name))).toEqual(names);
  expect(map.differ).toBe(true);
  expect(createToolNames(['a_b']).differ).toBe(false);
});

test('names that would be one are kept apart by a hash, whatever their order (R280)', () => {
  const names = ['a.b', 'a/b', 'a_b', `${'x'.repeat(70)}1`, `${'x'.repeat(70)}2`];
  const map = createToolNames(names);
  const wire = names.map((name) => map.toWire(name));
  expect(wire[2]).toBe('a_b');
  expect(new Set(wire).size).toBe(names.length);
  expect(wire.map((name) => map.fromWire(name))).toEqual(names);
  const turned = createToolNames(names.toReversed());
  expect(names.map((name) => turned.toWire(name))).toEqual(wire);
  for (const name of wire) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
});

test('a model may say either name, or one that there is not', () => {
  const map = createToolNames(['tool_outputs.list']);
  expect(map.fromWire('tool_outputs_list')).toBe('tool_outputs.list');
  expect(map.fromWire('tool_outputs.list')).toBe('tool_outputs.list');
  expect(map.fromWire('another')).toBe('another');
  expect(map.toWire('')).toBe('unnamed');
  expect(map.toWire('an other')).toBe('an_other');
});

test('an alias means its tool where that is offered, and no tool has the name of the alias (R280)', () => {
  const names = ['read_file', 'list_files', 'search_files'];
  const map = createToolNames(names);
  expect(names.map((name) => map.fromWire(`FileSystemTool_${name}`))).toEqual(names);
  expect(names.map((name) => map.toWire(name))).toEqual(names);
  expect(map.differ).toBe(true);
  for (const other of ['FileSystemTool_read_files', 'FileSystemTool_', 'filesystemtool_read_file'])
    expect(map.fromWire(other)).toBe(other);
  const alias = 'FileSystemTool_read_file';
  expect(createToolNames(['list_files']).fromWire(alias)).toBe(alias);
  expect(createToolNames(['read_file', alias]).fromWire(alias)).toBe(alias);
  expect(createToolNames(['search_subtasks']).fromWire('DatabaseTool_search_subtasks')).toBe(
    'DatabaseTool_search_subtasks',
  );
});
