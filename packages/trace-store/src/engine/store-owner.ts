/** Signs stores, to distinguish one's own from those that came with a folder. */
export type StoreOwner = {
  newId(): string;
  /** A MAC of the id, made with a key that is in no store and no workspace. */
  sign(id: string): string;
  isOwn(id: string, mac: string): boolean;
};
