/**
 * What else processes of several hosts share of a workspace: named records, each with bytes if it has any.
 *
 * A record is there as a whole or not at all. Rejects with STORE_UNAVAILABLE if the outcome is unknown.
 */
export interface SharedRecords {
  /** Stores a record, in place of one of the same name. */
  put(
    place: RecordPlace,
    name: string,
    text: string,
    bytes?: AsyncIterable<Uint8Array>,
  ): Promise<void>;
  /**
   * Replaces the text of a record by what `change` makes of it, or of null if there is none; its bytes stay. Nobody else
   * stores the record in between.
   */
  update(place: RecordPlace, name: string, change: (text: string | null) => string): Promise<void>;
  /** Null if there is none. */
  get(place: RecordPlace, name: string): Promise<string | null>;
  /** Of all records of the place, the last stored first. */
  names(place: RecordPlace): Promise<readonly string[]>;
  /** Those of these names, or all of the place, in no order. */
  list(place: RecordPlace, names?: readonly string[]): Promise<readonly SharedRecord[]>;
  /** Nothing for a record without bytes. Rejects with STORE_UNAVAILABLE if it is replaced or removed meanwhile. */
  read(place: RecordPlace, name: string): AsyncIterable<Uint8Array>;
  remove(place: RecordPlace, name: string): Promise<void>;
}

/** `root` is the workspace. */
export type RecordPlace = { readonly root: string; readonly kind: 'backup' | 'page' };

export type SharedRecord = {
  readonly name: string;
  readonly text: string;
  /** Since it was stored, by the store's own clock. */
  readonly ageMs: number;
};
