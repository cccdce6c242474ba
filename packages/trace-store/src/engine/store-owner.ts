/** Signs stores, so that one's own are told from those that came with a folder. */
export type StoreOwner = {
  newId(): string;
  /** A MAC of the id, by a key that no store and no workspace contains. */
  sign(id: string): string;
  isOwn(id: string, mac: string): boolean;
};
