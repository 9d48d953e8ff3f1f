import type { Problem } from './types.ts';

/** The address of a Prometheus: its origin, and the path under which it serves its API. */
export interface Address {
  origin: string;
  /** Without a slash at its end: empty for none. */
  path: string;
}

/** Encoded characters could be another path for a server that decodes them. */
const PATH = /^(\/[\w.~-]+)*\/?$/;

export type ParsedAddress = { ok: true; address: Address } | ({ ok: false } & Problem);

const bad = (problem: string, remedy: string): ParsedAddress => ({ ok: false, problem, remedy });

export const parseAddress = (text: string): ParsedAddress => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    return bad('is not an address', 'give one such as https://prometheus.example.org:9090');
  if (url.username !== '' || url.password !== '') return bad('has credentials', 'put them into a Secret');
  if (url.search !== '' || url.hash !== '') return bad('has a query or a fragment', 'remove it');
  if (!PATH.test(url.pathname))
    return bad('has a path with other characters than letters, digits and -._~', 'give another address');
  return { ok: true, address: { origin: url.origin, path: url.pathname.replace(/\/$/, '') } };
};

/** For messages, without credentials. */
export const shownAddress = (text: string): string => {
  const at = text.lastIndexOf('@');
  return at < 0 ? text : `${/^\w+:\/*/.exec(text.slice(0, at))?.[0] ?? ''}...${text.slice(at)}`;
};

/** Whether the address is the allowed one, or below its path. */
const isWithin = ({ origin, path }: Address, allowed: Address): boolean =>
  origin === allowed.origin && (path === allowed.path || path.startsWith(`${allowed.path}/`));

export interface AddressRules {
  /** The manager's own. */
  prometheusAddress: string | undefined;
  /** What the manager lets plans of namespaces ask, apart from it. */
  allowedAddresses: readonly string[];
}

const known = (text: string): Address[] => {
  const parsed = parseAddress(text);
  return parsed.ok ? [parsed.address] : [];
};

/** Where to ask: the address of the check, if its plan may name it, or else the manager's own. */
export const chooseAddress = (
  text: string | undefined,
  clusterPlan: boolean,
  { prometheusAddress, allowedAddresses }: AddressRules,
): ParsedAddress => {
  if (text === undefined)
    return prometheusAddress === undefined
      ? bad(
          'is not set, and the manager has no Prometheus of its own',
          `set ${clusterPlan ? "it, or the manager's flag" : "the manager's flag"} --prometheus-address`,
        )
      : parseAddress(prometheusAddress);
  const parsed = parseAddress(text);
  if (!parsed.ok || clusterPlan) return parsed;
  const { address } = parsed;
  const own = prometheusAddress === undefined ? [] : known(prometheusAddress);
  const isOwn = own.some(({ origin, path }) => origin === address.origin && path === address.path);
  if (isOwn || allowedAddresses.flatMap(known).some((allowed) => isWithin(address, allowed))) return parsed;
  return bad(
    'is not an address that plans of namespaces may ask',
    "add it to the manager's flag --allowed-check-addresses, or remove it",
  );
};
