/**
 * The OpenAPI document. Each route describes itself; the errors that any request may get are added here, so that no
 * description can forget them.
 */
import type { ErrorCode } from '@orion/contracts';

import { codeList } from '../answers/described-errors.ts';
import { statusOf } from '../answers/http-error.ts';
import type { ServerApp } from '../routes/route-options.ts';

export type ApiDocument = ReturnType<ServerApp['getOpenAPI31Document']>;
type PathItem = NonNullable<ApiDocument['paths']>[string];
export type Operation = NonNullable<PathItem['get']>;

export const METHODS = ['get', 'post', 'put', 'delete'] as const;

/** An answer as the document describes it. */
export type Answer = {
  readonly $ref?: string;
  readonly description?: string;
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
  readonly headers?: object;
  readonly 'x-codes'?: readonly ErrorCode[];
};

const DESCRIPTION = `Turns, write sessions and records of Orion over HTTP.

Every request needs the token of the server as \`Authorization: Bearer <token>\`, unless its \`security\` says otherwise.
A POST sends \`application/json\`; a PUT sends \`application/octet-stream\`. Unknown fields and parameters are refused. An error
is \`{"error": {"code", "message", "hint"}}\`: its code is never renamed, and its hint says what to do next. The header
\`x-request-id\` of an answer names its line in the log of the server. A list that has \`next\` is read in pages: it is
the parameter that reads on, and null at the end.`;

const ANY: readonly ErrorCode[] = [
  'REQUEST_INVALID',
  'HOST_NOT_ALLOWED',
  'ORIGIN_NOT_ALLOWED',
  'REQUEST_TIMEOUT',
  'RATE_LIMITED',
  'HEADERS_TOO_LARGE',
  'INTERNAL_ERROR',
  'SERVER_STOPPING',
  'STORE_UNAVAILABLE',
  'STORE_TOO_NEW',
  'STORE_FOREIGN',
];
const WITH_TOKEN: readonly ErrorCode[] = ['UNAUTHORIZED'];
const WITH_BODY: readonly ErrorCode[] = ['BODY_TOO_LARGE', 'MEDIA_TYPE_UNSUPPORTED'];

const ERROR_SCHEMA = { $ref: '#/components/schemas/Error' };
const ERROR_CONTENT = { 'application/json': { schema: ERROR_SCHEMA } };
const HEADERS: Readonly<Record<number, object>> = {
  401: { 'WWW-Authenticate': { schema: { type: 'string' }, description: '`Bearer`.' } },
  429: {
    'Retry-After': { schema: { type: 'integer' }, description: 'Seconds until one may ask again.' },
  },
};

/** The document of all routes that the app has; it describes those that are there when it is made. */
export function describeApi(app: ServerApp): ApiDocument {
  const document = app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Orion',
      version: '1',
      description: DESCRIPTION,
      license: { name: 'MIT' },
    },
    security: [{ token: [] }],
  });
  const shared: Record<string, object> = {};
  for (const item of Object.values(document.paths ?? {}))
    for (const method of METHODS) {
      const operation = item[method];
      if (operation !== undefined) addErrors(operation, shared);
    }
  const { webhooks: _, ...described } = document;
  return {
    ...described,
    components: {
      ...document.components,
      responses: shared as NonNullable<ApiDocument['components']>['responses'] & object,
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'The token of the server.' },
      },
    },
  };
}

function addErrors(operation: Operation, shared: Record<string, object>): void {
  const codes = [
    ...ANY,
    ...(takesToken(operation) ? WITH_TOKEN : []),
    ...(operation.requestBody === undefined ? [] : WITH_BODY),
  ];
  const responses = operation.responses as Record<string, Answer>;
  for (const [status, common] of Map.groupBy(codes, statusOf)) {
    const own = responses[status];
    if (own === undefined) {
      shared[`Error${status}`] = describedError(status, common);
      responses[status] = { $ref: `#/components/responses/Error${status}` };
    } else responses[status] = besides(own, describedError(status, common));
  }
}

function describedError(status: number, codes: readonly ErrorCode[]): Answer {
  const headers = HEADERS[status];
  return {
    description: codeList(codes),
    content: ERROR_CONTENT,
    'x-codes': codes,
    ...(headers === undefined ? {} : { headers }),
  };
}

/** What a route itself answers with a status, with the errors that have the same one. */
function besides(own: Answer, error: Answer): Answer {
  const ownCodes = own['x-codes'];
  const codes = [...new Set([...(ownCodes ?? []), ...(error['x-codes'] ?? [])])];
  if (ownCodes !== undefined)
    return { ...own, ...error, description: codeList(codes), 'x-codes': codes };
  const schema = own.content?.['application/json']?.schema ?? {};
  return {
    ...own,
    description: `${own.description ?? ''} Or: ${codeList(codes)}`,
    content: { ...own.content, 'application/json': { schema: { anyOf: [schema, ERROR_SCHEMA] } } },
    'x-codes': codes,
  };
}

/** Whether it refuses a wrong token. */
export function takesToken({ security }: Operation): boolean {
  return security?.some((scheme) => 'token' in scheme) ?? true;
}

export function needsToken({ security }: Operation): boolean {
  return security === undefined;
}
