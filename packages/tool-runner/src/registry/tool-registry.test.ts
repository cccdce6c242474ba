import { getEventListeners } from 'node:events';

import { OrionError } from '@orion/contracts';
import type { JsonObject, Tool, ToolExecutionContext, ToolOutput } from '@orion/contracts';
import { createFakeClock, toolCall } from '@orion/testkit';
import { expect, test } from 'vitest';
import { createToolRegistry } from './tool-registry.ts';
import type { ToolRegistryOptions } from './tool-registry.ts';
import { CONTEXT } from '../testing/context.ts';

const tool = (
  execute: Tool['execute'],
  more: Partial<Tool> & { readonly name?: string } = {},
): Tool => {
  const { name = 'probe', ...rest } = more;
  return {
    definition: { name, description: '', parameters: { type: 'object' } },
    effect: 'read',
    execute,
    ...rest,
  };
};

const run = async (
  probe: Tool,
  options: ToolRegistryOptions = {},
  more: Partial<ToolExecutionContext> = {},
  args: string | object = {},
) => {
  const registry = createToolRegistry([probe], options);
  const [result] = await registry.executeToolCalls([toolCall('1', 'probe', args as string)], {
    ...CONTEXT,
    ...more,
  });
  if (result === undefined) throw new Error('A call has a result');
  return { result, summary: registry.summarize(result) };
};

const failing = (error: unknown, fails: number, effect: Tool['effect'] = 'read') => {
  let ran = 0;
  return tool(
    () => {
      ran += 1;
      if (ran <= fails) return Promise.reject(error as Error);
      return Promise.resolve({ result: ran });
    },
    { effect },
  );
};

const transient = new OrionError({ code: 'RESOURCE_BUSY', message: 'busy', retryable: true });

test('a read is tried again, at most three more times, for an error that may pass (R176)', async () => {
  expect((await run(failing(transient, 3))).result).toMatchObject({ success: true, attempts: 4 });
  expect((await run(failing(transient, 4))).result).toMatchObject({
    error: { code: 'RESOURCE_BUSY', retryable: true },
    attempts: 4,
  });
  const codes = ['EAGAIN', 'EBUSY', 'ECONNRESET', 'EINTR', 'EMFILE', 'ENFILE', 'ETIMEDOUT'];
  for (const code of codes) {
    const system = Object.assign(new Error('try again'), { code });
    expect((await run(failing(system, 1))).result).toMatchObject({ success: true, attempts: 2 });
  }
});

test('neither a write nor a lasting error is tried again (R176)', async () => {
  const lasting = [
    new OrionError({ code: 'FILE_NOT_FOUND', message: 'none' }),
    Object.assign(new Error('none'), { code: 'ENOENT' }),
    new Error('defect'),
    'a text',
    null,
  ];
  for (const error of lasting) {
    expect((await run(failing(error, 1))).result).toMatchObject({ success: false, attempts: 1 });
  }
  expect((await run(failing(transient, 1, 'write'))).result).toMatchObject({
    success: false,
    attempts: 1,
  });
});

test('retries wait longer each time, and an abort ends the wait', async () => {
  const clock = createFakeClock();
  const controller = new AbortController();
  const running = run(failing(transient, 9), { clock }, { signal: controller.signal });
  await clock.advance(99);
  expect(clock.pending()).toBe(1);
  await clock.advance(1);
  await clock.advance(199);
  expect(clock.pending()).toBe(1);
  controller.abort();
  expect((await running).result).toMatchObject({ error: { code: 'ABORTED' }, attempts: 2 });
  expect(clock.pending()).toBe(0);
});

test('a tool that changes its arguments does not change the next attempt', async () => {
  const seen: unknown[] = [];
  const probe = tool((args) => {
    seen.push({ ...args });
    (args as Record<string, unknown>)['path'] = 'changed';
    return Promise.reject(transient);
  });
  await run(probe, {}, {}, { path: 'a' });
  expect(seen).toEqual(Array.from({ length: 4 }, () => ({ path: 'a' })));
});

test('an abort does not wait for a read, but always for a write', async () => {
  const late = (effect: Tool['effect']) => {
    const controller = new AbortController();
    const started = Promise.withResolvers<void>();
    const output = Promise.withResolvers<ToolOutput>();
    const probe = tool(
      () => {
        started.resolve();
        return output.promise;
      },
      { effect },
    );
    const running = run(probe, {}, { signal: controller.signal });
    const settled = running.then(({ result }) => (result.success ? 'ok' : result.error.code));
    return {
      controller,
      settled,
      started: started.promise,
      finish: () => output.resolve({ result: 1 }),
    };
  };
  const read = late('read');
  await read.started;
  read.controller.abort();
  expect(await read.settled).toBe('ABORTED');
  read.finish();

  const write = late('write');
  await write.started;
  write.controller.abort();
  const first = await Promise.race([
    write.settled,
    new Promise((resolve) => setImmediate(() => resolve('waiting'))),
  ]);
  expect(first).toBe('waiting');
  write.finish();
  expect(await write.settled).toBe('ok');
});

test('a read that fails after its abort stays silent', async () => {
  const controller = new AbortController();
  const started = Promise.withResolvers<void>();
  const output = Promise.withResolvers<ToolOutput>();
  const probe = tool(() => {
    started.resolve();
    return output.promise;
  });
  const running = run(probe, {}, { signal: controller.signal });
  await started.promise;
  controller.abort();
  expect((await running).result).toMatchObject({ error: { code: 'ABORTED' } });
  output.reject(new Error('late'));
  await new Promise((resolve) => setImmediate(resolve));
});

test('an answer that is not JSON is a failure of the tool', async () => {
  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = cyclic;
  for (const result of [undefined, 1n, cyclic, () => 1]) {
    const output = { result } as unknown as ToolOutput;
    expect((await run(tool(() => Promise.resolve(output)))).result).toMatchObject({
      error: { code: 'TOOL_FAILED' },
      attempts: 1,
    });
  }
});

test('a tool that throws at once, and one whose failure has details', async () => {
  const thrower = tool(() => {
    throw new Error('at once');
  });
  expect((await run(thrower)).result).toMatchObject({
    error: { code: 'TOOL_FAILED', message: 'at once' },
  });
  const detailed = tool(() =>
    Promise.reject(
      new OrionError({ code: 'CONTENT_IN_ARGUMENTS', message: 'no', details: { key: 'content' } }),
    ),
  );
  expect((await run(detailed)).result).toMatchObject({ attempts: 0, details: { key: 'content' } });
});

test('next and details come through', async () => {
  const probe = tool(() => Promise.resolve({ result: 1, next: 'content', details: { a: 1 } }), {
    effect: 'write',
  });
  expect((await run(probe)).result).toMatchObject({ next: 'content', details: { a: 1 } });
});

test('what is not approved does not run', async () => {
  const ran: string[] = [];
  const probe = tool(() => {
    ran.push('ran');
    return Promise.resolve({ result: 1 });
  });
  const asked: unknown[] = [];
  const refused = await run(
    probe,
    {
      approve: ({ call, effect, args }) => {
        asked.push([call.name, effect, args]);
        return Promise.resolve({ approved: false, reason: 'the user said no' });
      },
    },
    {},
    { path: 'a' },
  );
  expect(refused.result).toMatchObject({
    attempts: 0,
    error: { code: 'APPROVAL_REFUSED', message: 'probe was not approved: the user said no' },
  });
  const failed = await run(probe, { approve: () => Promise.reject(new Error('no terminal')) });
  expect(failed.result).toMatchObject({
    error: { code: 'APPROVAL_REFUSED', message: 'probe was not approved: no terminal' },
  });
  expect(ran).toEqual([]);
  const approved = await run(probe, { approve: () => Promise.resolve({ approved: true }) });
  expect(approved.result.success).toBe(true);
  expect(asked).toEqual([['probe', 'read', { path: 'a' }]]);
});

test('every result is recorded once, and a failing record disturbs nothing', async () => {
  const recorded: string[] = [];
  const registry = createToolRegistry([tool(() => Promise.resolve({ result: 1 }))], {
    record: (call, result) => {
      recorded.push(`${call.id} ${result.success}`);
      throw new Error('record');
    },
  });
  const results = await registry.executeToolCalls(
    [toolCall('1', 'probe'), toolCall('2', 'nobody')],
    CONTEXT,
  );
  expect(results).toHaveLength(2);
  expect(recorded).toEqual(['1 true', '2 false']);
});

test('a tool that checks its own arguments sees every key, and only objects', async () => {
  const seen: unknown[] = [];
  const probe = tool(
    (args) => {
      seen.push(args);
      return Promise.reject(
        new OrionError({ code: 'INVALID_TOOL_ARGUMENTS', message: 'target_file is required' }),
      );
    },
    {
      checksArguments: true,
      definition: {
        name: 'probe',
        description: '',
        parameters: {
          type: 'object',
          properties: { target_file: { type: 'string' } },
          required: ['target_file'],
          additionalProperties: false,
        },
      },
    },
  );
  expect((await run(probe, {}, {}, { content: 'x' })).result).toMatchObject({
    attempts: 0,
    error: { message: 'target_file is required' },
  });
  expect((await run(probe, {}, {}, '[]')).result).toMatchObject({ attempts: 0 });
  expect(seen).toEqual([{ content: 'x' }]);
});

test('summaries are one short line without control characters', async () => {
  const probe = tool(() => Promise.resolve({ result: 1 }), {
    summarize: () => `two\nlines \u001b[31m ${'x'.repeat(500)}`,
  });
  const { summary } = await run(probe);
  expect(summary).toHaveLength(200);
  expect(summary).toMatch(/^two lines \[31m x+…$/);
  const broken = tool(() => Promise.resolve({ result: 1 }), {
    summarize: () => {
      throw new Error('summary');
    },
  });
  expect((await run(broken)).summary).toBe('probe succeeded');
});

test('leaves a tool out that cannot be used, says so, and keeps the others (B26)', async () => {
  const named = (name: string) => tool(() => Promise.resolve({ result: 1 }), { name });
  const probe = named('probe');
  const other = { ...named('probe'), execute: () => Promise.resolve({ result: 2 }) };
  const withParameters = (name: string, parameters: JsonObject): Tool => ({
    ...probe,
    definition: { ...probe.definition, name, parameters },
  });
  const leftOut: string[] = [];
  const registry = createToolRegistry(
    [
      probe,
      other,
      ...['', 'a b', 'a\n\u200b', 'x'.repeat(129)].map(named),
      withParameters('text', { type: 'string' }),
      withParameters('away', { type: 'object', $ref: 'https://127.0.0.1/schema' }),
      withParameters('matched', { type: 'object', propertyNames: { pattern: '^a' } }),
    ],
    { leftOut: (why) => leftOut.push(why) },
  );
  expect(leftOut).toEqual([
    'The tool "probe" is left out: another tool has this name.',
    'The tool "" is left out: providers do not accept this name.',
    'The tool "a b" is left out: providers do not accept this name.',
    String.raw`The tool "a\n\u{200b}" is left out: providers do not accept this name.`,
    `The tool "${'x'.repeat(100)}" is left out: providers do not accept this name.`,
    'The tool "text" is left out: its schema does not describe an object.',
    'The tool "away" is left out: its schema refers to another document.',
    'The tool "matched" is left out: its schema has regular expressions, which cannot be matched here.',
  ]);
  expect(registry.definitions('act').map(({ name }) => name)).toEqual(['probe']);
  expect(await registry.executeToolCalls([toolCall('1', 'probe', {})], CONTEXT)).toMatchObject([
    { success: true, result: 1 },
  ]);
});

test('PLAN mode offers the read tools that it knows by name, unless they decline (R177)', () => {
  const given = (name: string, more: Partial<Tool> = {}): Tool =>
    tool(() => Promise.resolve({ result: null }), { name, ...more });
  const known = [
    'FileSystemTool_read_file',
    'FileSystemTool_list_files',
    'FileSystemTool_search_files',
    'DatabaseTool_get_subtask_full_context',
    'DatabaseTool_list_subtasks_by_status',
    'DatabaseTool_search_subtasks',
  ];
  const others = ['DatabaseTool_search_subtasks_and_delete', 'databasetool_search_subtasks'];
  const plan = (tools: readonly Tool[]): readonly string[] =>
    createToolRegistry(tools)
      .definitions('plan')
      .map(({ name }) => name);
  expect(plan([...known, ...others].map((name) => given(name)))).toEqual(known);
  expect(plan(known.map((name) => given(name, { effect: 'write' })))).toEqual([]);
  expect(plan(known.map((name) => given(name, { inPlanMode: false })))).toEqual([]);
});

test('a call by an alias runs and is recorded under the name of the tool (R280)', async () => {
  const recorded: string[] = [];
  const registry = createToolRegistry(
    [tool(() => Promise.resolve({ result: 1 }), { name: 'read_file', inPlanMode: true })],
    { record: (call) => recorded.push(call.name) },
  );
  const alias = 'FileSystemTool_read_file';
  expect(registry.definitions('act').map(({ name }) => name)).toEqual(['read_file']);
  expect(registry.traitsOf(alias)).toEqual(registry.traitsOf('read_file'));
  expect(registry.signatureOf(toolCall('1', alias, {}), 'p')).toBe(
    registry.signatureOf(toolCall('2', 'read_file', {}), 'p'),
  );
  const [result] = await registry.executeToolCalls([toolCall('1', alias, {})], CONTEXT);
  expect(result).toMatchObject({ success: true, toolName: 'read_file' });
  expect(recorded).toEqual(['read_file']);
});

test('a tool learns its conversation, and who approves what it would do', async () => {
  const conversation = { id: 'c', messageId: 'm', messages: () => [] };
  const action = { kind: 'command', command: 'ls', folder: '/' } as const;
  let given: unknown;
  const approved: unknown[] = [];
  const probe = tool(
    (_, context) => {
      given = context.conversation;
      return Promise.resolve({ result: 1 });
    },
    { action: (args) => ({ ...action, command: args['line'] as string }) },
  );
  const options: ToolRegistryOptions = {
    conversation,
    approve: (request) => {
      approved.push(request.action);
      return Promise.resolve({ approved: true });
    },
  };
  await run(probe, options, {}, { line: 'pwd' });
  await run(
    tool(() => Promise.resolve({ result: 1 })),
    options,
  );
  expect(given).toBe(conversation);
  expect(approved).toEqual([{ ...action, command: 'pwd' }, null]);
});

test('a read that has ended listens to its signal no longer', async () => {
  let signal: AbortSignal | undefined;
  const probe = tool((_, context) => {
    signal = context.signal;
    return Promise.resolve({ result: 1 });
  });
  const turn = new AbortController();
  await run(probe, {}, { signal: turn.signal });
  for (const each of [signal, turn.signal])
    expect(getEventListeners(each as AbortSignal, 'abort')).toEqual([]);
});

test('the waits between attempts are 100, 200 and 400 ms', async () => {
  const clock = createFakeClock();
  const starts: number[] = [];
  const probe = tool(() => {
    starts.push(clock.monotonic());
    return Promise.reject(transient);
  });
  const running = run(probe, { clock });
  for (let step = 0; step < 80; step += 1) await clock.advance(10);
  expect((await running).result).toMatchObject({ success: false, attempts: 4 });
  expect(starts).toEqual([0, 100, 300, 700]);
});

test('of a long message of a failure both ends are shown, redacted before it is cut', async () => {
  const message = (text: string) =>
    run(failing(new Error(text), 1), { redact: (each) => each.replaceAll('secret', '[REDACTED]') });
  const whole = 'm'.repeat(4_096);
  expect((await message(whole)).result).toMatchObject({ error: { message: whole } });
  const [start, end] = ['m'.repeat(1_995), 'n'.repeat(1_995)];
  expect((await message(`${start}secret${'.'.repeat(200)}secret${end}`)).result).toMatchObject({
    error: { message: `${start}[REDA [210 characters left out] CTED]${end}` },
  });
});

test('arguments that do not fit are not repeated at any length', async () => {
  const parameters = { type: 'object', additionalProperties: false };
  const { result } = await run(
    {
      ...tool(async () => ({ result: 1 })),
      definition: { name: 'probe', description: '', parameters },
    },
    {},
    {},
    { ['z'.repeat(10_000)]: 1 },
  );
  expect(JSON.stringify(result).length).toBeLessThan(5_000);
});
