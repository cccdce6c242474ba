/** Requests made from the OpenAPI document alone: those that fit it, those that nearly do, and hostile ones. */
import fastCheck from 'fast-check';
import type { Arbitrary } from 'fast-check';

import type { ApiDocument, Operation } from '../openapi/document.ts';
import { operationsOf } from '../openapi/page.ts';
import { nameOf } from '../openapi/schema-text.ts';
import type { Schema } from '../openapi/schema-text.ts';

export type GeneratedRequest = {
  readonly method: string;
  readonly path: string;
  readonly body?: string | Uint8Array;
  readonly contentType?: string;
  /** It is all that the document asks for. */
  readonly isValid: boolean;
  readonly operation: Operation;
};

type Parameter = {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header';
  readonly required?: boolean;
  readonly schema: Schema;
};
type Part = { readonly text: string; readonly isValid: boolean };

const SHORT = 12;
/** What is opaque, and so cannot be made up; and how long a poll waits. */
const CURSORS: ReadonlySet<string> = new Set(['before']);
const WAIT = 'wait';

const HOSTILE_TEXTS: readonly string[] = [
  '../../../etc/passwd',
  '\u0000',
  '\ufeff\u202e\u2028',
  "'; drop table conversation; --",
  '${jndi:ldap://x}',
  '__proto__',
  'constructor',
  '$..*',
  '-1',
  '1e309',
  '9007199254740993',
  'NaN',
  '😀'.repeat(200),
  'x'.repeat(2000),
  '',
];
/** As they are in the request line. */
const HOSTILE_ESCAPES: readonly string[] = [
  '%',
  '%zz',
  '%00',
  '%ff%fe',
  '..%2f..%2f',
  '%2e%2e/',
  '/',
  ';',
  '+',
  '[]=',
];

const HOSTILE_VALUES: readonly unknown[] = [
  ...HOSTILE_TEXTS,
  null,
  true,
  -0.5,
  1e308,
  [],
  {},
  [[[[[[]]]]]],
  JSON.parse('{"__proto__":{"admin":true},"constructor":{"prototype":{}}}'),
  Array.from({ length: 3000 }, (_, index) => index),
];

/** `ids` are those of things that exist. */
export function generatedRequests(
  document: ApiDocument,
  ids: readonly string[],
): Arbitrary<GeneratedRequest> {
  const operations = operationsOf(document).map(({ method, path, operation }) => {
    const parameters = (operation.parameters ?? []) as unknown as readonly Parameter[];
    const named = Object.fromEntries(
      parameters.map((each) => [each.name, parameterText(document, each, ids)]),
    );
    return fastCheck
      .record({
        values: fastCheck.record(named),
        body: bodyOf(document, operation),
        extra: extraQuery,
      })
      .map(({ values, body, extra }): GeneratedRequest => {
        const inPath = path.replaceAll(
          /\{(\w+)\}/gu,
          (_, name: string) => values[name]?.text ?? '',
        );
        const query = parameters
          .filter(({ in: place }) => place === 'query')
          .flatMap(({ name }) => (values[name]?.text ? [`${name}=${values[name].text}`] : []));
        const isValid =
          Object.values(values).every((value) => value.isValid) && body.isValid && extra === '';
        const { isValid: _, ...sent } = body;
        const all = [...query, ...(extra === '' ? [] : [extra])].join('&');
        return {
          method,
          path: all === '' ? inPath : `${inPath}?${all}`,
          ...sent,
          isValid,
          operation,
        };
      });
  });
  return fastCheck.oneof(...operations);
}

const extraQuery: Arbitrary<string> = fastCheck.oneof(
  { weight: 9, arbitrary: fastCheck.constant('') },
  {
    weight: 1,
    arbitrary: fastCheck.constantFrom('x=1', '=', '&&', '__proto__=1', '%=%', 'a[b]=c'),
  },
);

function parameterText(
  document: ApiDocument,
  { name, required = false, schema }: Parameter,
  ids: readonly string[],
): Arbitrary<Part> {
  const encoded = (value: unknown, isValid: boolean): Part => ({
    text: encodeURIComponent(String(value).toWellFormed()),
    isValid,
  });
  if (name === WAIT) return fastCheck.constant({ text: '0', isValid: true });
  const valid = valueOf(document, schema).map((value) => {
    const text = Array.isArray(value)
      ? value.map((each) => encoded(each, true).text).join(`&${name}=`)
      : encoded(value, true).text;
    // A path cannot have an empty part, nor a query a parameter without a value.
    return { text, isValid: text !== '' && !/^\.+$/u.test(text) };
  });
  return fastCheck.oneof(
    {
      weight: 3,
      arbitrary: CURSORS.has(name) ? fastCheck.constant({ text: '', isValid: true }) : valid,
    },
    { weight: required ? 0 : 3, arbitrary: fastCheck.constant({ text: '', isValid: true }) },
    {
      weight: required ? 6 : 0,
      arbitrary: fastCheck
        .constantFrom(...ids.filter((id) => schema.type !== 'integer' || /^\d+$/u.test(id)))
        .map((id) => encoded(id, true)),
    },
    {
      weight: 1,
      arbitrary: fastCheck.constantFrom(...HOSTILE_TEXTS).map((text) => encoded(text, false)),
    },
    {
      weight: 1,
      arbitrary: fastCheck
        .constantFrom(...HOSTILE_ESCAPES)
        .map((text) => ({ text, isValid: false })),
    },
  );
}

type Body = Pick<GeneratedRequest, 'body' | 'contentType' | 'isValid'>;

function bodyOf(document: ApiDocument, { requestBody }: Operation): Arbitrary<Body> {
  const { content } = (requestBody ?? {}) as {
    readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
  };
  const [[contentType, { schema = {} }] = ['', {}]] = Object.entries(content ?? {});
  if (contentType === '') return fastCheck.constant({ isValid: true });
  if (contentType !== 'application/json')
    return fastCheck
      .uint8Array({ maxLength: 64 })
      .map((body) => ({ body, contentType, isValid: true }));
  const { example } = namedSchema(document, schema) ?? {};
  const valid = fastCheck.oneof(
    { weight: 1, arbitrary: valueOf(document, schema) },
    { weight: example === undefined ? 0 : 1, arbitrary: fastCheck.constant(example) },
  );
  const json = (value: unknown, isValid: boolean): Body => ({
    body: JSON.stringify(value) ?? 'null',
    contentType,
    isValid,
  });
  return fastCheck.oneof(
    { weight: 4, arbitrary: valid.map((value) => json(value, true)) },
    {
      weight: 4,
      arbitrary: fastCheck
        .tuple(valid, fastCheck.nat(), fastCheck.constantFrom(...HOSTILE_VALUES))
        .map(([value, at, hostile]) => json(damaged(value, at, hostile), false)),
    },
    {
      weight: 1,
      arbitrary: fastCheck
        .constantFrom(
          '',
          '{',
          '[]',
          'null',
          '"x"',
          '{"a":1,"a":2}',
          '\u0000',
          `{"x":${'9'.repeat(400)}}`,
        )
        .map((body) => ({ body, contentType, isValid: false })),
    },
  );
}

/** The value with one of its places replaced, removed, or a field more. */
function damaged(value: unknown, at: number, hostile: unknown): unknown {
  if (typeof value !== 'object' || value === null) return hostile;
  const entries = Object.entries(value);
  if (Array.isArray(value))
    return value.map((item, index) =>
      index === at % value.length ? damaged(item, at, hostile) : item,
    );
  if (entries.length === 0 || at % 5 === 0) return { ...value, unknownField: hostile };
  const [name, inner] = entries[at % entries.length] ?? ['', null];
  if (at % 5 === 1) return Object.fromEntries(entries.filter(([each]) => each !== name));
  return { ...value, [name]: at % 5 === 2 ? damaged(inner, Math.floor(at / 5), hostile) : hostile };
}

/** A value that fits the schema. */
function valueOf(document: ApiDocument, schema: Schema): Arbitrary<unknown> {
  const { type, properties, items } = schema;
  const named = namedSchema(document, schema);
  if (named !== undefined) return valueOf(document, named);
  if (schema.enum !== undefined) return fastCheck.constantFrom(...schema.enum);
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices !== undefined)
    return fastCheck.oneof(...choices.map((each) => valueOf(document, each)));
  if (items !== undefined) {
    const { minItems = 0, maxItems = SHORT } = schema;
    return fastCheck.array(valueOf(document, items), {
      minLength: minItems,
      maxLength: Math.max(minItems, Math.min(maxItems, SHORT)),
    });
  }
  if (properties !== undefined) {
    const fields = Object.entries(properties).map(
      ([name, field]) => [name, valueOf(document, field)] as const,
    );
    return fastCheck.record(Object.fromEntries(fields), {
      requiredKeys: [...(schema.required ?? [])],
    });
  }
  const types = typeof type === 'string' ? [type] : (type ?? ['any']);
  return fastCheck.oneof(...types.map((each) => scalarOf(each, schema)));
}

function namedSchema(document: ApiDocument, schema: Schema): Schema | undefined {
  return document.components?.schemas?.[nameOf(schema) ?? ''] as Schema | undefined;
}

function scalarOf(type: string, schema: Schema): Arbitrary<unknown> {
  const { minimum = -1000, maximum = 1_000_000, minLength = 0, maxLength = 40 } = schema;
  switch (type) {
    case 'string':
      if (schema.pattern !== undefined)
        return fastCheck
          .stringMatching(new RegExp(schema.pattern), { maxLength })
          .filter((text) => text.length >= minLength);
      return fastCheck.string({
        minLength,
        maxLength: Math.max(minLength, Math.min(maxLength, 40)),
        unit: 'grapheme',
      });
    case 'integer':
      return fastCheck.integer({
        min: Math.max(minimum, -2_000_000_000),
        max: Math.min(maximum, 2_000_000_000),
      });
    case 'number':
      return fastCheck.double({ noNaN: true, noDefaultInfinity: true });
    case 'boolean':
      return fastCheck.boolean();
    case 'object':
      return fastCheck.dictionary(fastCheck.string(), fastCheck.jsonValue({ maxDepth: 2 }), {
        maxKeys: 4,
      });
    case 'null':
      return fastCheck.constant(null);
    default:
      return fastCheck.jsonValue({ maxDepth: 2 });
  }
}
