// Our client, over real sockets: whatever ends its streams, it has the turn whole.
import { createOrionClient } from '@orion/client';
import type { RunEvent, TurnStreamEvent } from '@orion/contracts';
import { describe, expect, it } from 'vitest';

import { TOKEN } from '../testing/test-server.ts';
import { done, startTurnServer, text } from '../testing/turn-server.ts';
import type { TurnServer } from '../testing/turn-server.ts';

const clientOf = ({ port }: TurnServer) =>
  createOrionClient({ url: `http://127.0.0.1:${port}`, token: TOKEN });

describe('our client', () => {
  it('sends a message and reads its turn, whose streams all end behind each event', async () => {
    const server = await startTurnServer();
    const client = clientOf(server);
    const { turnId } = await client.messages.send({ content: 'hello', mode: 'plan' });
    expect(server.submitted[0]).toMatchObject({ content: 'hello', mode: 'plan', protocol: null });
    const turn = await server.begin(turnId);
    const written: RunEvent[] = [...(await turn.write(text('\r\n\u2028 first')))];
    const seen: TurnStreamEvent[] = [];
    for await (const event of client.turns.events(turnId)) {
      seen.push(event);
      server.streams.end();
      if (seen.length < 6) written.push(...(await turn.write(text(`${seen.length}`))));
      else if (seen.length === 6) written.push(...(await turn.write(done())));
    }
    expect(seen).toEqual(written);
  });

  it('continues where another reader stopped, polls, and knows turns', async () => {
    const server = await startTurnServer();
    const client = clientOf(server);
    const turn = await server.begin('t');
    await turn.write(text('1'), text('2'));
    const first = client.turns.events('t');
    for await (const event of first) if (event.type !== 'reset' && event.seq === 2) break;
    await turn.write(text('3'), done());
    const seqs: unknown[] = [];
    for await (const event of client.turns.events('t', { after: first.lastEventId ?? '' })) {
      seqs.push(event.type);
    }
    expect(seqs).toEqual(['chunk', 'done']);
    const { events, done: isDone } = await client.turns.poll('t', { after: '1', wait: 1 });
    expect([events.length, isDone]).toEqual([3, true]);
    expect(await client.turns.get('t')).toMatchObject({ turnId: 't', state: 'done', lastSeq: 4 });
    expect((await client.turns.list({ state: 'done' })).turns).toHaveLength(1);
    await expect(client.turns.cancel('t')).rejects.toMatchObject({
      code: 'TURN_FINISHED',
      status: 409,
    });
    await expect(client.turns.get('no')).rejects.toMatchObject({
      code: 'TURN_NOT_FOUND',
      hint: expect.any(String),
    });
  });
});
