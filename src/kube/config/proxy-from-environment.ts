import { BlockList, isIP } from 'node:net';

type Environment = Record<string, string | undefined>;

const either = (environment: Environment, name: string): string =>
  environment[name.toLowerCase()] || environment[name] || '';

const inNetwork = (host: string, entry: string): boolean => {
  const [network = '', bits = ''] = entry.split('/');
  const family = isIP(network);
  if (family === 0 || isIP(host) !== family || !/^\d+$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128))
    return false;
  const list = new BlockList();
  list.addSubnet(network, Number(bits), family === 4 ? 'ipv4' : 'ipv6');
  return list.check(host, family === 4 ? 'ipv4' : 'ipv6');
};

/** Whether a NO_PROXY entry covers the host: `*`, a domain with its subdomains, an address or a network. */
const covers = (entry: string, host: string, port: string): boolean => {
  if (entry === '*') return true;
  if (entry.includes('/')) return inNetwork(host, entry);
  const match = /^\[(.+)\](?::(\d+))?$/.exec(entry) ?? (isIP(entry) ? undefined : /^([^:]+)(?::(\d+))?$/.exec(entry));
  const name = (match?.[1] ?? entry).toLowerCase();
  if (match?.[2] !== undefined && match[2] !== port) return false;
  if (name.startsWith('.') || name.startsWith('*.')) return host.endsWith(name.replace(/^\*/, ''));
  return host === name || (isIP(host) === 0 && host.endsWith(`.${name}`));
};

/**
 * The proxy for `server` according to HTTPS_PROXY, HTTP_PROXY and NO_PROXY, with the rules of Go's net/http that
 * kubectl follows: NO_PROXY may contain networks, and loopback addresses never use a proxy.
 */
export const proxyFromEnvironment = (server: string, environment: Environment): string | undefined => {
  const { protocol, hostname, port } = new URL(server);
  const proxy = either(environment, protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY');
  if (proxy === '') return undefined;
  const host = hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
  if (host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))) return undefined;
  const effectivePort = port || (protocol === 'https:' ? '443' : '80');
  const exempt = either(environment, 'NO_PROXY')
    .split(/[\s,]+/)
    .filter((entry) => entry !== '');
  if (exempt.some((entry) => covers(entry, host, effectivePort))) return undefined;
  return proxy.includes('://') ? proxy : `http://${proxy}`;
};
