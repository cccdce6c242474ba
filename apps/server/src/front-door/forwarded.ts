/**
 * What a proxy in front of the server says of a request. Only peers that were listed are believed: anybody else can send
 * these headers, too.
 */
import { BlockList, isIP } from 'node:net';

/** Addresses and networks, such as `10.0.0.0/8`. */
export class TrustedProxies {
  readonly #list = new BlockList();

  constructor(addresses: readonly string[]) {
    for (const address of addresses) {
      const [network = '', bits] = address.split('/');
      if (bits === undefined) this.#list.addAddress(network, family(network));
      else this.#list.addSubnet(network, Number(bits), family(network));
    }
  }

  includes(address: string): boolean {
    return isIP(address) !== 0 && this.#list.check(address, family(address));
  }
}

export function isProxyAddress(text: string): boolean {
  const [network = '', bits, ...more] = text.split('/');
  const version = isIP(network);
  if (version === 0 || more.length > 0) return false;
  return (
    bits === undefined || (/^\d{1,3}$/u.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
  );
}

export type Forwarded = {
  /** Whose request it is, as far as that is known. */
  readonly client: string;
  /** The name that the client has used for the server, where a proxy reports it. */
  readonly host: string | null;
};

/**
 * `X-Forwarded-For` is read from its end, to the first address that is not one of a proxy: what stands before it was
 * sent by the client.
 */
export function forwardedOf(
  peer: string | undefined,
  header: (name: string) => readonly string[],
  proxies: TrustedProxies,
): Forwarded {
  let client = plainAddress(peer ?? '');
  if (!proxies.includes(client)) return { client, host: null };
  const passed = header('x-forwarded-for').flatMap((value) => value.split(','));
  for (const address of passed.toReversed().map((each) => plainAddress(each.trim()))) {
    if (isIP(address) === 0) break;
    client = address;
    if (!proxies.includes(address)) break;
  }
  return { client, host: header('x-forwarded-host').join(',') || null };
}

/** An IPv4 address may arrive as one of IPv6. */
function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/iu, '');
}

function family(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}
