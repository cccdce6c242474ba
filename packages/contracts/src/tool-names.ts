/** The names of tools that providers accept (R280), and the way back. */
export type ToolNames = {
  /** Whether any tool has another name, for the provider or as an alias. */
  readonly differ: boolean;
  /** Of any name, also of one that is not offered: a model may have invented it. */
  toWire(name: string): string;
  /** The tool that a model means by its name on the wire or an alias. Any other name is returned unchanged. */
  fromWire(wire: string): string;
};

const ON_THE_WIRE = /^[A-Za-z0-9_-]{1,64}$/;
const NOT_ON_THE_WIRE = /[^A-Za-z0-9_-]/g;
const MAX_LENGTH = 64;
/** Names that models know these tools by from elsewhere. They are accepted, and never offered. */
const ALIASES: readonly (readonly [alias: string, name: string])[] = [
  ['FileSystemTool_read_file', 'read_file'],
  ['FileSystemTool_list_files', 'list_files'],
  ['FileSystemTool_search_files', 'search_files'],
];

/**
 * The names of these tools as providers accept them.
 *
 * 1. A name that providers accept stays as it is.
 * 2. In any other, `_` takes the place of what they do not accept; a hash of the name follows where it is too long, or
 *    would be the name of another tool.
 * 3. It depends on nothing but the set of names, so requests begin alike and a provider's cache holds.
 * 4. An alias means its tool, unless a tool has that very name.
 */
export function createToolNames(names: readonly string[]): ToolNames {
  const plain = Map.groupBy(new Set(names), plainName);
  const toWire = (name: string): string => {
    if (ON_THE_WIRE.test(name)) return name;
    const short = plainName(name);
    const isTaken = plain.get(short)?.some((other) => other !== name) === true;
    if (!isTaken && short.length <= MAX_LENGTH) return short;
    const ending = `_${hashOf(name)}`;
    return short.slice(0, MAX_LENGTH - ending.length) + ending;
  };
  const meant = new Map([
    ...ALIASES.filter(([alias, name]) => names.includes(name) && !names.includes(alias)),
    ...names
      .filter((name) => !ON_THE_WIRE.test(name))
      .map((name): [string, string] => [toWire(name), name]),
  ]);
  return {
    differ: meant.size > 0,
    toWire,
    fromWire: (wire) => meant.get(wire) ?? wire,
  };
}

function plainName(name: string): string {
  return name.replaceAll(NOT_ON_THE_WIRE, '_') || 'unnamed';
}

/** 53 bits of a hash, in at most 11 characters (cyrb53, public domain: https://github.com/bryc/code). */
function hashOf(text: string): string {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    high = Math.imul(high ^ unit, 2_654_435_761);
    low = Math.imul(low ^ unit, 1_597_334_677);
  }
  const mixedHigh =
    Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
  const mixedLow =
    Math.imul(low ^ (low >>> 16), 2_246_822_507) ^
    Math.imul(mixedHigh ^ (mixedHigh >>> 13), 3_266_489_909);
  return (4_294_967_296 * (2_097_151 & mixedLow) + (mixedHigh >>> 0)).toString(36);
}
