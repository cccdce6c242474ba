import { API_KEY_CANARY } from '@orion/testkit';
import type { AdapterScenario } from '@orion/testkit';

import type { Answer } from '../scripted/byte-server.ts';
import {
  RESPONSE_START,
  argumentsDelta,
  functionCall,
  namedEvents,
  responseEnd,
  textDelta,
} from '../testing/named-events.ts';
import { describeContractOf } from '../testing/contract.ts';

const HALF = namedEvents(RESPONSE_START, textDelta('half'));
const CALL = namedEvents(
  RESPONSE_START,
  textDelta('Calling.'),
  functionCall(1, 'call_1', 'read_file'),
  argumentsDelta(1, '{"path":'),
);
const INCOMPLETE = responseEnd('incomplete', {
  incomplete_details: { reason: 'max_output_tokens' },
});

const ANSWERS: Readonly<Record<AdapterScenario, Answer>> = {
  text: {
    pieces: [
      namedEvents(
        RESPONSE_START,
        ...['Hello, w', 'örld ', '🎉'].map(textDelta),
        responseEnd('completed'),
      ),
    ],
  },
  'tool-call': {
    pieces: [CALL, namedEvents(argumentsDelta(1, '"a.txt"}'), responseEnd('completed'))],
  },
  'cut-call': { pieces: [CALL, namedEvents(INCOMPLETE)] },
  length: { pieces: [HALF, namedEvents(INCOMPLETE)] },
  truncated: { pieces: [HALF, 'data: [DONE]\n\n'] },
  broken: { pieces: [HALF], end: 'reset' },
  failed: {
    pieces: [
      HALF,
      namedEvents(responseEnd('failed', { error: { code: 'server_error', message: 'no' } })),
    ],
  },
  refused: {
    status: 401,
    pieces: [
      JSON.stringify({ error: { message: `Incorrect API key provided: ${API_KEY_CANARY}` } }),
    ],
  },
  endless: { pieces: [HALF], end: 'open' },
  'next-call': {
    pieces: [
      namedEvents(
        RESPONSE_START,
        functionCall(0, 'call_1', 'read_file'),
        argumentsDelta(0, '{"path":"a.txt"}'),
        functionCall(1, 'call_2', 'list_files'),
      ),
    ],
    end: 'open',
  },
};

describeContractOf('openai-responses', 'openai-responses', ANSWERS);
