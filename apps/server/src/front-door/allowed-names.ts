/** The names under which clients may reach the server, as whole values of headers in lower case. */
export type AllowedNames = {
  readonly hosts: ReadonlySet<string>;
  readonly origins: ReadonlySet<string>;
};

/** `allowHosts` may be the names of a proxy, which may use another port and TLS. */
export function allowedNames(
  { host, port }: { readonly host: string; readonly port: number },
  allowHosts: readonly string[],
): AllowedNames {
  const withPort = (name: string): readonly string[] =>
    port === 80 ? [name, `${name}:80`] : [`${name}:${port}`];
  const listening = ANY.has(host) ? [] : [asSent(host)];
  const own = ['127.0.0.1', 'localhost', '[::1]', ...listening].flatMap(withPort);
  const allowed = allowHosts.flatMap((name) =>
    /:\d+$/u.test(name) ? [name] : [name, ...withPort(name)],
  );
  const originsOf = (scheme: string, names: readonly string[]): readonly string[] =>
    names.map((name) => `${scheme}://${name.replace(scheme === 'http' ? /:80$/u : /:443$/u, '')}`);
  return {
    hosts: new Set([...own, ...allowed]),
    origins: new Set([...originsOf('http', [...own, ...allowed]), ...originsOf('https', allowed)]),
  };
}

/** As clients write it into the header Host; lower case at least for what is no host of a URL. */
function asSent(host: string): string {
  const written = host.includes(':') ? `[${host}]` : host;
  const url = `http://${written}`;
  return URL.canParse(url) ? new URL(url).hostname : written.toLowerCase();
}

/** Under which a client on this machine reaches the server. */
export function ownUrl({ host, port }: { readonly host: string; readonly port: number }): string {
  const reached = ANY.get(host) ?? host;
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`;
}

/** All addresses of the machine, which nobody writes into a URL, and the one that is allowed by itself. */
const ANY: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
]);
