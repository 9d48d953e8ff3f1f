import type { IncomingMessage } from 'node:http';
import { failure, type HttpResponse } from './response.ts';

/** How clients reach a listener. */
export interface Site {
  /** The `Host` headers that it accepts, in lower case. */
  hosts: ReadonlySet<string>;
  scheme: 'http' | 'https';
}

const DEFAULT_PORT = { http: 80, https: 443 } as const;

/** `name` becomes `name:port`; clients may omit a default port. */
const withPort = (host: string, port: number, scheme: Site['scheme']): string[] => {
  const given = /^(.*):(\d+)$/.exec(host);
  const bare = given && !host.endsWith(']') ? (given[1] ?? '') : host;
  const wanted = given && !host.endsWith(']') ? Number(given[2]) : port;
  return wanted === DEFAULT_PORT[scheme] ? [bare, `${bare}:${wanted}`] : [`${bare}:${wanted}`];
};

export const tcpSite = (scheme: Site['scheme'], port: number, names: readonly string[]): Site => ({
  scheme,
  hosts: new Set(names.flatMap((name) => withPort(name.toLowerCase(), port, scheme))),
});

/** Browsers can't connect to a Unix socket; its clients commonly send `localhost`. */
export const unixSite = (names: readonly string[]): Site => ({
  scheme: 'http',
  hosts: new Set(['localhost', ...names.map((name) => name.toLowerCase())]),
});

const count = (request: IncomingMessage, name: string): number => {
  let found = 0;
  for (let at = 0; at < request.rawHeaders.length; at += 2)
    if (request.rawHeaders[at]?.toLowerCase() === name) found += 1;
  return found;
};

/** A browser that follows a link opens the page as a whole: the other site sees nothing of it. */
const isNavigation = ({ method, headers }: IncomingMessage): boolean =>
  (method === 'GET' || method === 'HEAD') &&
  headers['sec-fetch-mode'] === 'navigate' &&
  headers['sec-fetch-dest'] === 'document';

/**
 * Refuses requests that a web page of another site could send: through a DNS name that resolves to this device (`Host`), or
 * from its own origin. `same-site` is foreign, too: another port of localhost is another program. `linkable`: links of other
 * sites may lead here, because it is the same for all and changes nothing.
 */
export const checkOrigin = (
  request: IncomingMessage,
  site: Site,
  { linkable = false }: { linkable?: boolean } = {},
): HttpResponse | undefined => {
  const { host = '', origin, 'sec-fetch-site': fetchSite } = request.headers;
  for (const name of ['host', 'origin', 'authorization', 'sec-fetch-site'])
    if (count(request, name) > 1)
      return failure(400, `the header ${name} is repeated`, { cause: 'RepeatedHeader', close: true });
  if (!site.hosts.has(host.toLowerCase()))
    return failure(
      421,
      `unknown host "${host.slice(0, 80)}": open the address that was printed, or see the flag --allowed-host`,
      {
        cause: 'UnknownHost',
        close: true,
      },
    );
  if (origin !== undefined && origin.toLowerCase() !== `${site.scheme}://${host.toLowerCase()}`)
    return failure(403, 'requests from other sites are refused', { cause: 'ForeignOrigin' });
  if (linkable && isNavigation(request)) return undefined;
  if (fetchSite !== undefined && fetchSite !== 'same-origin' && fetchSite !== 'none')
    return failure(403, 'requests from other sites are refused', { cause: 'ForeignSite' });
  return undefined;
};
