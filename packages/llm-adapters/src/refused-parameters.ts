import type { Fields } from '@orion/contracts';
import { isFields } from '@orion/contracts';
import type { ProviderFailure } from './provider-error.ts';

/** What to do about a parameter that a server refuses: omit it, or send it by its other name. */
export type Remedy = 'leave-out' | 'swap';

/** What a server has refused so far, by the path of the parameter. */
export type Refusals = ReadonlyMap<string, Remedy>;

/** Parameters that a request can do without. */
export type OptionalParameters = {
  /** Paths in the request, with dots between the names: `output_config.format`. */
  readonly paths: readonly string[];
  /**
   * Fields in the objects of a list: `messages.reasoning`. Some servers demand such a field, and name it then, so that
   * it is left out only by those that do not know it.
   */
  readonly inLists?: readonly string[];
  /** Other names of parameters, at the same place in the request. */
  readonly otherNames?: ReadonlyMap<string, string>;
};

const NOT_KNOWN =
  /unsupported|not support|unrecogni[sz]ed|unknown|unexpected|extra|not permitted|not allowed|deprecated|invalid param/i;

/**
 * The optional parameter that a server refused, if it was sent. If the server objects to the name of a parameter that
 * has another name, the other name is tried; if it objects to the value, the parameter is omitted.
 */
export function readRefusal(
  failure: ProviderFailure,
  request: object,
  { paths, inLists = [], otherNames }: OptionalParameters,
): { readonly parameter: string; readonly remedy: Remedy } | undefined {
  if (failure.status !== 400 && failure.status !== 422) return undefined;
  const words = `${failure.code ?? ''} ${failure.type ?? ''} ${failure.message}`;
  const isUnknown = NOT_KNOWN.test(words);
  const sent = [...paths, ...(isUnknown ? inLists : [])].filter((path) =>
    has(request, path.split('.')),
  );
  const parameter =
    sent.find((path) => path === failure.parameter) ??
    sent.find((path) => mentions(failure.message, path)) ??
    sent.find((path) => mentions(failure.message, path.slice(path.lastIndexOf('.') + 1)));
  if (parameter === undefined) return undefined;
  const swaps = otherNames?.has(parameter) === true && isUnknown;
  return { parameter, remedy: swaps ? 'swap' : 'leave-out' };
}

/** The request without refused parameters. It is not modified; only the objects around a parameter are copied. */
export function withoutRefused<RequestBody extends object>(
  request: RequestBody,
  refusals: Refusals,
  { otherNames }: OptionalParameters,
): RequestBody {
  let fields = request as Fields;
  for (const [path, remedy] of refusals) {
    const other = remedy === 'swap' ? otherNames?.get(path) : undefined;
    fields = replaced(
      fields,
      path.split('.'),
      other === undefined || refusals.has(other) ? undefined : other.split('.').at(-1),
    );
  }
  return fields as RequestBody;
}

function mentions(message: string, name: string): boolean {
  return new RegExp(`(?<![\\w-])${name.replaceAll('.', '\\.')}(?![\\w-])`).test(message);
}

function has(value: unknown, path: readonly string[]): boolean {
  const [name, ...rest] = path;
  if (name === undefined) return true;
  if (Array.isArray(value)) return value.some((item: unknown) => has(item, path));
  return isFields(value) && Object.hasOwn(value, name) && has(value[name], rest);
}

/**
 * The fields without one of them, or with it under another name. An object that loses its last field is removed, too.
 */
function replaced(
  fields: Fields,
  [name = '', ...rest]: readonly string[],
  other: string | undefined,
): Fields {
  if (!Object.hasOwn(fields, name)) return fields;
  const { [name]: value, ...others } = fields;
  if (rest.length === 0) return other === undefined ? others : { ...others, [other]: value };
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) =>
      isFields(item) ? replaced(item, rest, other) : item,
    );
    return { ...fields, [name]: items };
  }
  if (!isFields(value)) return fields;
  const inner = replaced(value, rest, other);
  return Object.keys(inner).length === 0 ? others : { ...others, [name]: inner };
}
