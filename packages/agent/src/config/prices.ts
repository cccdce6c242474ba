import { isFields, type Usage } from '@orion/contracts';

/** What a model's tokens cost, in US dollars for a million of them. */
export type Price = {
  readonly input: number;
  /** Of input that the provider had in its cache; as any other input when left out. */
  readonly cached?: number;
  /** Reasoning included. */
  readonly output: number;
};

/** By model, as it is named to the provider. */
export type Prices = Readonly<Record<string, Price>>;

const KEYS: ReadonlySet<string> = new Set(['input', 'cached', 'output']);

/** Undefined for what is not an object of prices. */
export function pricesOf(value: unknown): Prices | undefined {
  if (!isFields(value)) return undefined;
  return Object.values(value).every(isPrice) ? (value as Prices) : undefined;
}

function isPrice(value: unknown): value is Price {
  if (!isFields(value) || !Object.keys(value).every((key) => KEYS.has(key))) return false;
  const { input, cached = 0, output } = value;
  return [input, cached, output].every(
    (amount) => typeof amount === 'number' && Number.isFinite(amount) && amount >= 0,
  );
}

/** What was used costs, in US dollars: what the provider reports, else by the price; null if neither is known. */
export function costOf(usage: Usage, price: Price | undefined): number | null {
  if (usage.cost !== undefined) return usage.cost;
  if (price === undefined) return null;
  const { inputTokens, cachedTokens, outputTokens } = usage;
  const cached = Math.min(cachedTokens, inputTokens);
  const sum =
    (inputTokens - cached) * price.input +
    cached * (price.cached ?? price.input) +
    outputTokens * price.output;
  return sum / 1_000_000;
}
