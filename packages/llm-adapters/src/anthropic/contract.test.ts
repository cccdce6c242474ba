import { API_KEY_CANARY } from '@orion/testkit';
import type { AdapterScenario } from '@orion/testkit';

import type { Answer } from '../scripted/byte-server.ts';
import {
  MESSAGE_START,
  MESSAGE_STOP,
  callBlock,
  messageEnd,
  namedEvents,
  textBlock,
} from '../testing/named-events.ts';
import { describeContractOf } from '../testing/contract.ts';

const HALF = namedEvents(MESSAGE_START, ...textBlock(0, 'half'));
const CALL = namedEvents(
  MESSAGE_START,
  ...textBlock(0, 'Calling.'),
  ...callBlock(1, 'toolu_1', 'read_file', '', '{"path":'),
);
const REST = { type: 'input_json_delta', partial_json: '"a.txt"}' };

const ANSWERS: Readonly<Record<AdapterScenario, Answer>> = {
  text: {
    pieces: [
      namedEvents(
        MESSAGE_START,
        ...textBlock(0, 'Hello, w', 'örld ', '🎉'),
        messageEnd('end_turn'),
        MESSAGE_STOP,
      ),
    ],
  },
  'tool-call': {
    pieces: [
      CALL,
      namedEvents(
        { type: 'content_block_delta', index: 1, delta: REST },
        messageEnd('tool_use'),
        MESSAGE_STOP,
      ),
    ],
  },
  'cut-call': { pieces: [CALL, namedEvents(messageEnd('max_tokens'), MESSAGE_STOP)] },
  length: { pieces: [HALF, namedEvents(messageEnd('max_tokens'), MESSAGE_STOP)] },
  truncated: { pieces: [HALF, namedEvents(messageEnd('end_turn'))] },
  broken: { pieces: [HALF], end: 'reset' },
  failed: {
    pieces: [HALF, namedEvents({ type: 'error', error: { type: 'api_error', message: 'no' } })],
  },
  refused: {
    status: 401,
    pieces: [
      JSON.stringify({
        type: 'error',
        error: { type: 'authentication_error', message: `invalid x-api-key ${API_KEY_CANARY}` },
      }),
    ],
  },
  endless: { pieces: [HALF], end: 'open' },
  'next-call': {
    pieces: [
      namedEvents(
        MESSAGE_START,
        ...callBlock(0, 'toolu_1', 'read_file', '{"path":', '"a.txt"}'),
        { type: 'content_block_stop', index: 0 },
        ...callBlock(1, 'toolu_2', 'list_files'),
      ),
    ],
    end: 'open',
  },
};

describeContractOf('anthropic', 'anthropic-messages', ANSWERS);
