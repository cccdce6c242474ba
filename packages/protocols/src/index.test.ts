import { expect, test } from 'vitest';
import * as exported from './index.ts';

test('exports what others build on, and nothing else', () => {
  expect(Object.keys(exported).sort()).toEqual([
    'BaseProtocol',
    'DEFAULT_PROTOCOL_CONFIG',
    'PROTOCOL_NAMES',
    'callModel',
    'createContentProtocol',
    'createControllerProtocol',
    'createProtocol',
    'createProtocolTrace',
    'createStandardProtocol',
    'createTwoStageProtocol',
    'findExecuted',
    'findStop',
    'normaliseProtocolName',
    'recordCommittedBegin',
    'recordExecuted',
    'resolveProtocolConfig',
    'runCalls',
    'tellIncomplete',
    'validateContext',
    'whyIncomplete',
  ]);
});
