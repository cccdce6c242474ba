/** `Fields` where what may be undefined may be missing instead. */
export type Defined<Fields extends object> = {
  [Name in keyof Fields]?: Exclude<Fields[Name], undefined>;
};

/** The fields that have a value, in their order: `undefined` is not the same as missing where a field is optional. */
export function defined<Fields extends object>(fields: Fields): Defined<Fields> {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Defined<Fields>;
}
