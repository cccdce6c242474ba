import { describeToolRegistryContract } from '@orion/testkit';
import { createToolRegistry } from './tool-registry.ts';

describeToolRegistryContract('createToolRegistry', (tools) => createToolRegistry(tools));
