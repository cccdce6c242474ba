// prints: FILE_EXISTS true two-stage
import { OrionError, createTurnState } from '@orion/contracts';
import type { ProtocolName, RunEvent } from '@orion/contracts';

const name: ProtocolName = 'two-stage';
const event = { type: 'chunk', content: 'x', source: 'model' } satisfies Partial<RunEvent>;
const error = new OrionError({ code: 'FILE_EXISTS', message: event.content });
console.log(error.code, createTurnState().iterations === 0, name);
