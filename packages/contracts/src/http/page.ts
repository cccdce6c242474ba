/** `POST /api/page/links`: the path of a log-in link, with the code behind `#`. */
export type PageLinkAnswer = { readonly path: string };

/** `POST /api/page/sessions`: with the code of a link; left out where the server's token is sent. */
export type PageSessionRequest = { readonly code?: string };

/** What a tab uses in place of a token, as `<id>.<key>`. */
export type PageSessionAnswer = { readonly id: string; readonly key: string };

/** `POST /api/page/challenge`: anything random, which the server has not seen before. */
export type PageChallengeRequest = { readonly id: string; readonly challenge: string };

/** `DELETE /api/page/sessions` and `DELETE /api/page/sessions/:id`. */
export type PageSignedOut = { readonly signedOut: true };

/** HMAC-SHA256 of `orion page challenge <challenge>` with the key of the session, in hexadecimal. */
export type PageChallengeAnswer = { readonly proof: string };
