import { describeProtocolContract } from '@orion/testkit';
import { createContentProtocol } from './content/content-protocol.ts';
import { createStandardProtocol } from './standard/standard-protocol.ts';

describeProtocolContract('standard', createStandardProtocol);
describeProtocolContract('content', createContentProtocol);
