/** The names of tools that providers accept (R280), and the way back. */
export type ToolNames = {
  /** Whether a name is another one for the provider. */
  readonly differ: boolean;
  /** Of any name, also of one that is not offered: a model may have invented it. */
  toWire(name: string): string;
  /** A name that is none of the wire is returned unchanged: a model may say either. */
  fromWire(wire: string): string;
};

const ON_THE_WIRE = /^[A-Za-z0-9_-]{1,64}$/;
const NOT_ON_THE_WIRE = /[^A-Za-z0-9_-]/g;
const MAX_LENGTH = 64;

/**
 * The names of these tools as providers accept them.
 *
 * 1. A name that providers accept stays as it is.
 * 2. In any other, `_` takes the place of what they do not accept; a hash of the name follows where it is too long, or
 *    would be the name of another tool.
 * 3. It depends on nothing but the set of names, so requests begin alike and a provider's cache holds.
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
  const renamed = new Map(
    names
      .filter((name) => !ON_THE_WIRE.test(name))
      .map((name): [string, string] => [toWire(name), name]),
  );
  return {
    differ: renamed.size > 0,
    toWire,
    fromWire: (wire) => renamed.get(wire) ?? wire,
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
