import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { OptionError } from '../runtime/index.ts';

export type IsProxy = (address: string) => boolean;

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');
/** An IPv4 address that an IPv6 socket accepted, as itself; without a zone. */
const plainAddress = (address: string): string => (address.split('%', 1)[0] ?? '').replace(/^::ffff:(?=\d+\.)/i, '');

/** Whose share a connection from this address has: that of an IPv4 address, or of an IPv6 network of /64, which one host can use up. */
export const networkOf = (address: string): string => {
  const plain = plainAddress(address);
  if (isIP(plain) !== 6) return plain;
  // The canonical form, without an embedded IPv4 address.
  const [head = '', tail] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split('::');
  const [start, end] = [head, tail ?? ''].map((part) => (part === '' ? [] : part.split(':')));
  const zeros = Array.from({ length: 8 - (start?.length ?? 0) - (end?.length ?? 0) }, () => '0');
  return `${[...(start ?? []), ...zeros, ...(end ?? [])].slice(0, 4).join(':')}::/64`;
};

/** Networks as `10.0.0.0/8` or `fd00::/8`, and single addresses. */
export const parseProxies = (flag: string, networks: readonly string[]): IsProxy => {
  const known = new BlockList();
  for (const network of networks) {
    const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(network) ?? [];
    const width = isIP(address) === 6 ? 128 : 32;
    if (isIP(address) === 0 || Number(bits ?? width) > width)
      throw new OptionError(flag, `"${network}" is not a network: give addresses such as 10.0.0.0/8 or fd00::/8`);
    known.addSubnet(address, Number(bits ?? width), familyOf(address));
  }
  return (given) => {
    const address = plainAddress(given);
    return isIP(address) !== 0 && known.check(address, familyOf(address));
  };
};

/** The address of who sent the request: the last one that proxies report and that is none of theirs. */
export const clientOf = ({ socket, headers }: IncomingMessage, isProxy: IsProxy): string => {
  const { remoteAddress = '' } = socket;
  if (!isProxy(remoteAddress)) return remoteAddress;
  const reported = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',');
  const client = reported.findLast((address) => !isProxy(address.trim()))?.trim() ?? '';
  return isIP(client) === 0 ? remoteAddress : client;
};
