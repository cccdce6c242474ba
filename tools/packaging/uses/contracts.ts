// prints: FILE_EXISTS true two-stage
import { OrionError, createTurnState, isPlanModeTool } from '@orion/contracts';
import type { ProtocolName, RunEvent } from '@orion/contracts';

const name: ProtocolName = 'two-stage';
const event = { type: 'chunk', content: 'x', source: 'model' } satisfies Partial<RunEvent>;
const error = new OrionError({ code: 'FILE_EXISTS', message: event.content });
console.log(error.code, isPlanModeTool('read_file') && createTurnState().iterations === 0, name);
