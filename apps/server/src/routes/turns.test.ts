// Turns are read and ended by their ids, in pages.
import type { TurnListAnswer } from '@orion/contracts';
import { describe, expect, it } from 'vitest';

import { askServer, codeOf } from '../testing/test-server.ts';
import { done, startTurnServer } from '../testing/turn-server.ts';

describe('turns', () => {
  it('are listed, and the list says whether there are more', async () => {
    const { port, begin } = await startTurnServer();
    for (const id of ['a', 'b', 'c']) await begin(id);
    const list = async (query: string) =>
      (await askServer(port, `/api/turns${query}`)).json as TurnListAnswer;
    expect((await list('')).turns.map(({ turnId }) => turnId)).toEqual(['c', 'b', 'a']);
    expect(await list('?limit=2')).toMatchObject({ next: 'b' });
    expect(await list('?limit=3')).toMatchObject({ next: null });
    expect((await askServer(port, '/api/turns?before=b')).status).toBe(200);
    const beyond = await askServer(port, '/api/turns?before=none');
    expect([beyond.status, codeOf(beyond.json)]).toEqual([404, 'TURN_NOT_FOUND']);
    for (const query of ['?limit=0', '?limit=201', '?state=other', '?unknown=1']) {
      const { status, json } = await askServer(port, `/api/turns${query}`);
      expect([query, status, codeOf(json)]).toEqual([query, 400, 'REQUEST_INVALID']);
    }
  });

  it('are asked for their end, which a turn that is over has already', async () => {
    const { port, begin } = await startTurnServer();
    const turn = await begin('t');
    const cancel = async (id: string) => {
      const { status, json } = await askServer(port, `/api/turns/${id}/cancel`, { json: {} });
      return [status, codeOf(json) === '' ? json : codeOf(json)];
    };
    expect(await cancel('t')).toEqual([202, { turnId: 't', state: 'cancelling' }]);
    await turn.write(done());
    expect(await cancel('t')).toEqual([409, 'TURN_FINISHED']);
    expect(await cancel('none')).toEqual([404, 'TURN_NOT_FOUND']);
    expect(codeOf((await askServer(port, '/api/turns/none')).json)).toBe('TURN_NOT_FOUND');
  });
});
