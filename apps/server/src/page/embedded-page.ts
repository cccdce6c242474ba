/** A file of the page, as the build puts it into the server. */
export type EmbeddedFile = {
  /** Relative to the root of the page. */
  readonly name: string;
  readonly type: string;
  /** Compressed by gzip, in base64. */
  readonly gzip: string;
};

/** Empty in the source: `bundler/embed-page.js` writes the compiled file anew, with what `apps/web` was built into. */
export const EMBEDDED_PAGE: readonly EmbeddedFile[] = [];
