import { describeProtocolContract } from '@orion/testkit';
import { createContentProtocol } from './content/content-protocol.ts';
import { createControllerProtocol } from './controller/controller-protocol.ts';
import { CONTROLLER_DIALECT } from './controller/testing/dialect.ts';
import { createStandardProtocol } from './standard/standard-protocol.ts';
import { createTwoStageProtocol } from './two-stage/two-stage-protocol.ts';

describeProtocolContract('standard', createStandardProtocol, {
  maxModelCalls: 6,
  contentStage: createContentProtocol,
});
describeProtocolContract('two-stage', createTwoStageProtocol, {
  maxModelCalls: 5,
  contentStage: createContentProtocol,
});
describeProtocolContract('controller', createControllerProtocol, {
  dialect: CONTROLLER_DIALECT,
  contentStage: createContentProtocol,
});
describeProtocolContract('content', () => createContentProtocol(), {
  maxModelCalls: 1,
  runsCalls: false,
});
describeProtocolContract(
  'content as text',
  () => createContentProtocol(createControllerProtocol()),
  {
    maxModelCalls: 1,
    runsCalls: false,
  },
);
