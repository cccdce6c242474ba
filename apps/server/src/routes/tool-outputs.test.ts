// Stored outputs are asked over HTTP as by the tools and the command: the same answers, bounded.
import type { OutputsAnswer } from '@orion/contracts';
import { describe, expect, it } from 'vitest';

import { codeOf, startTestServer } from '../testing/test-server.ts';

const DOCUMENT = JSON.stringify({
  items: [
    { id: 1, status: 'open' },
    { id: 2, status: 'closed' },
    { id: 3, status: 'open' },
  ],
});

async function serverWithOutput(text: string = DOCUMENT) {
  const server = await startTestServer();
  const { id } = await server.orion.storeOutput(text, 'items.json');
  return { ...server, id };
}

describe('a stored output', () => {
  // One server for all: each would start a thread of its own.
  const answered: readonly [string, string, object | undefined, object][] = [
    ['GET', '', undefined, { output: JSON.parse(DOCUMENT) as object, tool_name: 'store' }],
    [
      'GET',
      '?offset=1&limit=7',
      undefined,
      { offset: 1, text: '"items"', total_chars: DOCUMENT.length },
    ],
    ['GET', '/stats', undefined, { arrays: { count: 1, total_items: 3, max_length: 3 } }],
    [
      'GET',
      '/stats?paths=$.items&max_depth=1',
      undefined,
      { paths: { '$.items': { matches: 1 } } },
    ],
    [
      'GET',
      '/stats?paths=$.items[0]&paths=$.none',
      undefined,
      { paths: { '$.items[0]': { matches: 1 }, '$.none': { matches: 0 } } },
    ],
    [
      'POST',
      '/extract',
      { paths: ['$.items[*].id', '$.none'] },
      { extracted: { '$.items[*].id': [1, 2, 3], '$.none': null }, missing_paths: ['$.none'] },
    ],
    ['POST', '/extract', { paths: ['$..id'], flatten: true }, { extracted: [1, 2, 3] }],
    [
      'POST',
      '/count',
      { queries: [{ name: 'open', path: '$.items', filter: "@.status == 'open'" }] },
      { counts: { open: 2 }, total: 2 },
    ],
    ['POST', '/sample', { path: '$.items', size: 1, method: 'last' }, { indices: [2], total: 3 }],
  ];
  it('is asked as by the tools', async () => {
    const { ask, id } = await serverWithOutput();
    for (const [method, rest, json, expected] of answered) {
      const answer = await ask(`/api/tool-outputs/${id}${rest}`, { method, ...(json && { json }) });
      expect({ rest, ...answer }).toMatchObject({ rest, status: 200, json: expected });
    }
  });

  const refused: readonly [string, string, object | undefined, string][] = [
    ['GET', '/none', undefined, '404 OUTPUT_NOT_FOUND'],
    ['GET', '/..%2f..%2fetc', undefined, '400 INVALID_OUTPUT_ID'],
    ['POST', '/ID/extract', { paths: ['$['] }, '400 OUTPUT_QUERY_INVALID'],
    ['POST', '/ID/extract', { paths: [] }, '400 REQUEST_INVALID'],
    ['POST', '/ID/extract', { id: 'another' }, '400 REQUEST_INVALID'],
    ['POST', '/ID/count', {}, '400 REQUEST_INVALID'],
    ['POST', '/ID/sample', { size: 1001 }, '400 REQUEST_INVALID'],
    ['GET', '/ID?limit=16385', undefined, '400 REQUEST_INVALID'],
    ['GET', '/ID/stats?max_depth=11', undefined, '400 REQUEST_INVALID'],
    ['GET', '/ID?conversation_id=another', undefined, '200'],
  ];
  it('is refused with a code where it cannot be asked', async () => {
    const { ask, id } = await serverWithOutput();
    for (const [method, path, json, expected] of refused) {
      const { status, json: body } = await ask(`/api/tool-outputs${path.replace('ID', id)}`, {
        method,
        ...(json && { json }),
      });
      expect([path, json, `${status} ${codeOf(body)}`.trim()]).toEqual([path, json, expected]);
    }
  });

  it('that is longer than 4 Mi characters is read in parts', async () => {
    const { ask, id } = await serverWithOutput(JSON.stringify('x'.repeat(4 * 1024 * 1024)));
    const whole = await ask(`/api/tool-outputs/${id}`);
    expect([whole.status, codeOf(whole.json)]).toEqual([400, 'OUTPUT_QUERY_LIMIT']);
    const part = await ask(`/api/tool-outputs/${id}?offset=4194000`);
    expect(part.json).toMatchObject({ text: `${'x'.repeat(305)}"` });
  });
});

describe('the list of stored outputs', () => {
  it('takes as large an offset as it says, and no larger', async () => {
    const { ask } = await serverWithOutput();
    const answerAt = async (offset: number): Promise<unknown> =>
      (await ask(`/api/tool-outputs?offset=${offset}`)).json;
    expect(await answerAt(1_000_000_000)).toMatchObject({ outputs: [], total: 1 });
    expect(await answerAt(1_000_000_001)).toMatchObject({ error: { code: 'REQUEST_INVALID' } });
  });

  it('is read page by page, of one project where one is named', async () => {
    const { ask, orion } = await serverWithOutput();
    await orion.storeOutput('"another"', 'b');
    const list = async (query: string) => (await ask(`/api/tool-outputs${query}`)).json;
    const first = await list('?limit=1&preview_length=3');
    const second = await list('?limit=1&offset=1&preview_length=3');
    expect([first, second]).toMatchObject([
      { total: 2, has_more: true },
      { total: 2, has_more: false },
    ]);
    // Both may have been stored in the same millisecond.
    const previews = [first, second].flatMap((page) =>
      (page as OutputsAnswer).outputs.map(({ preview }) => preview),
    );
    expect(new Set(previews)).toEqual(new Set(['"an', '{"i']));
    expect(await list('?projectId=other')).toMatchObject({ total: 0 });
    expect(await list('?success=false')).toMatchObject({ total: 0 });
  });
});
