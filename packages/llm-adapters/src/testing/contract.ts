import { API_KEY_CANARY, describeAdapterContract } from '@orion/testkit';
import type { AdapterScenario } from '@orion/testkit';

import { startByteServer } from '../scripted/byte-server.ts';
import type { Answer } from '../scripted/byte-server.ts';
import { createAdapterOf } from './providers.ts';
import type { FormatName } from './providers.ts';
import { ONCE } from './streams.ts';

/** The contract of adapters for a wire format, against a server that gives these answers. */
export function describeContractOf(
  name: string,
  format: FormatName,
  answers: Readonly<Record<AdapterScenario, Answer>>,
): void {
  describeAdapterContract(name, async (scenario) => {
    const server = await startByteServer(answers[scenario]);
    return {
      adapter: createAdapterOf(format, {
        apiKey: API_KEY_CANARY,
        baseUrl: server.url,
        retry: ONCE,
      }),
      connections: () => server.connections(),
      close: () => server.close(),
    };
  });
}
