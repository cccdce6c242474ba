import { describeProtocolContract } from '@orion/testkit';
import { createContentProtocol } from './content/content-protocol.ts';
import { createStandardProtocol } from './standard/standard-protocol.ts';
import { createTwoStageProtocol } from './two-stage/two-stage-protocol.ts';

describeProtocolContract('standard', createStandardProtocol);
describeProtocolContract('two-stage', createTwoStageProtocol);
describeProtocolContract('content', createContentProtocol);
