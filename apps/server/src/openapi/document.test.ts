// The document describes the server as it is: the same routes, in a form that a validator accepts.
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';

import { examplesOf } from '../testing/schema-check.ts';
import { startTestServer } from '../testing/test-server.ts';
import { testApp } from '../testing/test-app.ts';
import { describeApi, METHODS, needsToken, takesToken } from './document.ts';
import { operationsOf } from './page.ts';

const document = describeApi(testApp());

describe('the OpenAPI document', () => {
  it('names the routes of the router, and no others', () => {
    const routed = testApp()
      .routes.filter(({ method }) => method !== 'ALL')
      .map(({ method, path }) => `${method} ${path}`);
    const described = operationsOf(document).map(
      ({ method, path }) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/gu, ':$1')}`,
    );
    expect(described.toSorted()).toEqual([...new Set(routed)].toSorted());
    const others = Object.values(document.paths ?? {}).flatMap((item) =>
      Object.keys(item).filter((key) => !METHODS.includes(key as 'get')),
    );
    expect(others).toEqual([]);
  });

  it('is accepted by a validator, with all its references', async () => {
    const validator = new Validator();
    const verdict = await validator.validate(
      JSON.parse(JSON.stringify(document)) as Record<string, unknown>,
    );
    expect(verdict).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
    expect(JSON.stringify(validator.resolveRefs())).not.toContain('"$ref"');
  });

  it('describes each operation whole', () => {
    const names = new Set<string>();
    for (const { path, method, operation } of operationsOf(document)) {
      const { operationId = '', summary = '', tags = [], responses, parameters = [] } = operation;
      const where = `${method} ${path}`;
      expect([where, operationId]).toEqual([where, expect.stringMatching(/^[a-z]\w+$/u)]);
      expect([where, names.has(operationId)]).toEqual([where, false]);
      names.add(operationId);
      expect([where, summary]).toEqual([where, expect.stringMatching(/^[A-Z].*[^.]$/u)]);
      expect([where, tags.length]).toEqual([where, 1]);
      const inPath = parameters.filter((each) => 'in' in each && each.in === 'path');
      expect([where, inPath.length]).toEqual([where, path.split('{').length - 1]);
      expect(Object.keys(responses ?? {})).toEqual(
        expect.arrayContaining(['400', '403', '408', '429', '500', '503']),
      );
      expect([where, '401' in (responses ?? {})]).toEqual([where, takesToken(operation)]);
      const hasBody = operation.requestBody !== undefined;
      expect([where, '413' in (responses ?? {}), '415' in (responses ?? {})]).toEqual([
        where,
        hasBody,
        hasBody,
      ]);
    }
  });

  it('asks for no token exactly where the front door asks for none', async () => {
    const { ask } = await startTestServer();
    for (const { path, method, operation } of operationsOf(document)) {
      const { status } = await ask(path.replaceAll(/\{\w+\}/gu, 'x'), {
        method: method.toUpperCase(),
        token: null,
      });
      expect([path, method, status === 401]).toEqual([path, method, needsToken(operation)]);
    }
  });

  it('has a refusal of a wrong token exactly where one is refused', async () => {
    const { ask } = await startTestServer();
    for (const { path, method, operation } of operationsOf(document)) {
      const { status } = await ask(path.replaceAll(/\{\w+\}/gu, 'x'), {
        method: method.toUpperCase(),
        token: 'wrong',
      });
      expect([path, method, status === 401]).toEqual([path, method, takesToken(operation)]);
    }
  });

  it('has an example that fits for every body', () => {
    for (const { where, example, fits } of examplesOf(document))
      expect([where, example, fits(example)]).toEqual([where, expect.anything(), null]);
  });

  it('is served without a token, as the routes are', async () => {
    const { ask } = await startTestServer();
    const { status, json, headers } = await ask('/openapi.json', { token: null });
    expect([status, headers['content-type']]).toEqual([200, 'application/json']);
    expect(json).toEqual(JSON.parse(JSON.stringify(document)));
  });
});
