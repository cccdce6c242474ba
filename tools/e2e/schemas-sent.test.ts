import type { JsonObject } from '@orion/contracts';
import { findViolations, sanitizeSchema } from '@orion/llm-adapters';
import { expect } from 'vitest';

import { test } from './support/test.ts';

const PROTOCOLS = ['standard', 'two-stage', 'controller'] as const;
const ANSWER = JSON.stringify({ action: 'complete', message: 'Done.' });

type Sent = {
  readonly tools?: readonly { readonly name: string; readonly input_schema: JsonObject }[];
  readonly output_config?: { readonly format: { readonly schema: JsonObject } };
};

test.concurrent.for(PROTOCOLS)(
  'R216, R217: %s: every schema that is sent can be held to',
  async (protocol, { machine }) => {
    const provider = await machine.provider({ behaviours: [{ reply: { text: ANSWER } }] });

    const ended = await machine.ask(provider, ['--provider=anthropic', `--protocol=${protocol}`]);

    expect(ended.exitCode, ended.stderr).toBe(0);
    const sent = provider.requests.map(({ body }) => body as Sent);
    const answers = sent
      .map((body) => body.output_config?.format.schema)
      .filter((schema) => schema !== undefined);
    expect(answers.length > 0).toBe(protocol === 'controller');
    for (const schema of answers) {
      expect(findViolations(schema)).toEqual([]);
      expect(sanitizeSchema(schema)).toEqual(schema);
    }
    const tools = sent.flatMap((body) => body.tools ?? []);
    expect(tools.length > 0).toBe(protocol !== 'controller');
    for (const tool of tools) {
      // Arguments may have alternatives inside, never at the top.
      const top = findViolations(tool.input_schema).filter(({ pointer }) =>
        /^\/(?:oneOf|anyOf|allOf|if|then|else)$/u.test(pointer),
      );
      expect(top, tool.name).toEqual([]);
    }
  },
);
