import { API_KEY_CANARY } from '@orion/testkit';
import type { AdapterScenario } from '@orion/testkit';

import type { Answer } from '../scripted/byte-server.ts';
import { DONE, STOP, USAGE, chunk, content, sse, toolCall } from '../testing/streams.ts';
import { describeContractOf } from '../testing/contract.ts';

const HALF = sse(content('half'));
const CALL = sse(
  content('Calling.'),
  toolCall({ index: 0, id: 'call_1', name: 'read_file', arguments: '' }),
  toolCall({ index: 0, arguments: '{"path":' }),
);

const ANSWERS: Readonly<Record<AdapterScenario, Answer>> = {
  text: { pieces: [sse(content('Hello, w'), content('örld '), content('🎉'), STOP, USAGE, DONE)] },
  'tool-call': {
    pieces: [
      CALL,
      sse(toolCall({ index: 0, arguments: '"a.txt"}' }), chunk({}, 'tool_calls'), DONE),
    ],
  },
  'cut-call': { pieces: [CALL, sse(chunk({}, 'length'), DONE)] },
  length: { pieces: [HALF, sse(chunk({}, 'length'), DONE)] },
  truncated: { pieces: [HALF] },
  broken: { pieces: [HALF], end: 'reset' },
  failed: { pieces: [HALF, sse({ error: { message: 'no', type: 'server_error' } })] },
  refused: {
    status: 401,
    pieces: [
      JSON.stringify({ error: { message: `Incorrect API key provided: ${API_KEY_CANARY}` } }),
    ],
  },
  endless: { pieces: [HALF], end: 'open' },
  'next-call': {
    pieces: [
      sse(
        toolCall({ index: 0, id: 'call_1', name: 'read_file', arguments: '{"path":"a.txt"}' }),
        toolCall({ index: 1, id: 'call_2', name: 'list_files', arguments: '' }),
      ),
    ],
    end: 'open',
  },
};

describeContractOf('openai-compatible', 'openai-chat', ANSWERS);
