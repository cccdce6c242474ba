import { OrionError } from '@orion/contracts';

/** What is wrong with one value of a request. It names places and types, never what the client sent there. */
export type RequestProblem = {
  readonly in: 'query' | 'path' | 'headers' | 'body';
  /** Such as `corrections[2].text`; empty for the value as a whole. */
  readonly at: string;
  readonly problem: string;
};

/** The part of a schema's issue that is used. */
type Issue = {
  readonly code?: string | undefined;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly keys?: readonly string[];
};

/** More are counted. */
const LISTED = 20;
/** A key that can be shown: what a person mistyped, rather than a secret or a text. */
const PLAIN_KEY = /^[a-z]\w{0,39}$/iu;

const PLACES: Readonly<Record<string, RequestProblem['in']>> = {
  json: 'body',
  param: 'path',
  header: 'headers',
};

/** The error of a request that does not fit the schema of its route. `target` is the validator's word for the place. */
export function invalidRequest(target: string, issues: readonly Issue[]): OrionError {
  const where = PLACES[target] ?? 'query';
  const problems = issues.slice(0, LISTED).map((issue): RequestProblem => {
    return { in: where, at: pathText(issue.path, where), problem: wording(issue) };
  });
  const more = issues.length - problems.length;
  const lines = problems.map(({ at, problem }) => `${at === '' ? where : at}: ${problem}`);
  if (more > 0) lines.push(`and ${more} more`);
  return new OrionError({
    code: 'REQUEST_INVALID',
    message: `The ${where} of the request ${where === 'headers' ? 'are' : 'is'} not valid: ${lines.join('; ')}.`,
    details: { problems },
  });
}

function wording({ code, message, keys = [] }: Issue): string {
  if (code !== 'unrecognized_keys') return plainWords(message);
  const shown = keys.filter((key) => PLAIN_KEY.test(key)).slice(0, LISTED);
  const hidden = keys.length - shown.length;
  if (hidden > 0) shown.push(shown.length === 0 ? `${hidden}` : `${hidden} more`);
  return `unknown fields (${shown.join(', ')})`;
}

/** The words of the validator, as a person would say them. */
function plainWords(message: string): string {
  if (message.endsWith('received undefined')) return 'is missing';
  if (message === 'Invalid input') return 'is missing or does not fit';
  return message
    .replace(/^Invalid (?:input|option): /u, '')
    .replace(/^Too (?:small|big): expected \w+ to (?:be|have) /u, 'expected ')
    .replace(/([<>])=(?=-?\d)/u, (_, sign) => (sign === '<' ? 'at most ' : 'at least '))
    .replace(/\b(1 \w+)s$/u, '$1')
    .replaceAll('"|"', '", "');
}

/** The names of headers are those of the schema: other headers are not looked at. */
function pathText(path: readonly PropertyKey[], where: RequestProblem['in']): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    const name = where === 'headers' || PLAIN_KEY.test(String(key)) ? String(key) : '*';
    return text === '' ? name : `${text}.${name}`;
  }, '');
}
