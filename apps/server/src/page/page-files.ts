import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { gunzipSync, gzipSync } from 'node:zlib';

import { pathOf } from '../front-door/admit.ts';
import type { EmbeddedFile } from './embedded-page.ts';

/**
 * The page as files, from a map that was made at the build: no path is joined, and no file is read.
 *
 * Model text reaches this page. `trusted-types 'none'` leaves it no way to become markup, and nothing is loaded from,
 * or sent to, another host.
 */
export const PAGE_POLICY: string = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** The views of the page: all of them are the same document. */
const VIEWS = /^\/(?:|connect|changes|plan|a\/[^/]+|[cwt](?:\/[^/]+)?)$/u;
/** Names of assets change with their content. */
const FOR_EVER = 'public, max-age=31536000, immutable';

export type PageFiles = {
  /** Differs between versions of the page; null where it was not built. */
  readonly version: string | null;
  /** Whether a GET of this path is answered here. */
  has(path: string): boolean;
  answer(request: IncomingMessage, response: ServerResponse): void;
};

/** A quality of 0 is a no. */
const TAKES_GZIP = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/iu;

/** `basePath` precedes every path for a browser; empty if none does. */
export function createPageFiles(embedded: readonly EmbeddedFile[], basePath = ''): PageFiles {
  const files = new Map(embedded.map((file) => [`/${file.name}`, file]));
  const built = files.get('/index.html');
  // The document names the other files by their content.
  const version =
    built === undefined ? null : createHash('sha256').update(built.gzip).digest('hex').slice(0, 16);
  const document =
    built && version !== null
      ? { ...built, gzip: adapted(built.gzip, version, basePath) }
      : undefined;
  const find = (path: string): EmbeddedFile | undefined =>
    VIEWS.test(path) ? document : path.startsWith('/assets/') ? files.get(path) : undefined;
  // Anybody who reaches the port may ask for them: each is unpacked once.
  const bodies = { gzip: new Map<EmbeddedFile, Buffer>(), plain: new Map<EmbeddedFile, Buffer>() };
  const bodyOf = (file: EmbeddedFile, isPacked: boolean): Buffer => {
    const known = isPacked ? bodies.gzip : bodies.plain;
    let body = known.get(file);
    if (body === undefined) {
      body = isPacked ? Buffer.from(file.gzip, 'base64') : gunzipSync(bodyOf(file, true));
      known.set(file, body);
    }
    return body;
  };
  return {
    version,
    has: (path) => find(path) !== undefined,
    answer(request, response) {
      const file = find(pathOf(request.url ?? ''));
      if (file === undefined) throw new Error('not a file of the page');
      const takesGzip = TAKES_GZIP.test(request.headers['accept-encoding'] ?? '');
      const body = bodyOf(file, takesGzip);
      response.writeHead(200, {
        'content-type': file.type,
        'content-length': body.length,
        'content-security-policy': PAGE_POLICY,
        'cache-control': file === document ? 'no-store' : FOR_EVER,
        vary: 'accept-encoding',
        ...(takesGzip ? { 'content-encoding': 'gzip' } : {}),
      });
      response.end(request.method === 'HEAD' ? undefined : body);
    },
  };
}

/** The document as this server offers it: with its version, and its files below the base path. */
function adapted(gzip: string, version: string, basePath: string): string {
  const html = gunzipSync(Buffer.from(gzip, 'base64'))
    .toString()
    .replaceAll('"/assets/', `"${basePath}/assets/`)
    .replace('<title>', `<meta name="orion-page" content="${version}">$&`);
  return gzipSync(html, { level: 9 }).toString('base64');
}
