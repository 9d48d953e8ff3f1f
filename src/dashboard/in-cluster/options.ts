import { type Site, type TlsFiles, tcpSite } from '../../http/index.ts';
import {
  type BindAddress,
  certificateFiles,
  hostHeader,
  type LogOptions,
  list,
  objectName,
  parseBindAddress,
  resolveLog,
} from '../../process/index.ts';
import { OptionError } from '../../runtime/index.ts';
import type { ConnectionFlags } from '../../view/index.ts';
import { type IsProxy, parseProxies } from '../client-address.ts';

/** The flags of a dashboard for others, as given; a flag that was not given is absent. */
export interface ServeFlags extends ConnectionFlags {
  listen?: string;
  /** Comma-separated. */
  namespaces?: string;
  allowedHost?: readonly string[];
  tlsCertFile?: string;
  tlsPrivateKeyFile?: string;
  insecureHttp?: boolean;
  /** Comma-separated. */
  trustedProxies?: string;
  healthProbeBindAddress?: string;
  metricsBindAddress?: string;
  logLevel?: string;
  logFormat?: string;
}

export interface ServeOptions extends LogOptions {
  listen: BindAddress;
  /** Undefined: plain HTTP, for a proxy that has the certificate. */
  tls: TlsFiles | undefined;
  /** Undefined: all. */
  namespaces: readonly string[] | undefined;
  isProxy: IsProxy;
  /** Default: none. */
  health: BindAddress | undefined;
  /** Default: none. */
  metrics: BindAddress | undefined;
  /** How pages reach it, once its port is known. */
  sites: (port: number) => readonly [Site, ...Site[]];
}

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];
const HTTPS_PORT = 443;
const tlsFiles = (flags: ServeFlags): TlsFiles | undefined => {
  const files = certificateFiles(flags);
  if (files && flags.insecureHttp)
    throw new OptionError('--insecure-http', 'conflicts with --tls-cert-file: leave one of them out');
  if (files) return { ...files, clientCaFile: undefined };
  if (flags.insecureHttp) return undefined;
  throw new OptionError(
    '--listen',
    'needs --tls-cert-file and --tls-private-key-file, because callers send tokens; or --insecure-http behind a proxy that terminates TLS',
  );
};

/** Flags that only make sense for the user's own dashboard. */
const OWN_FLAGS: Readonly<Record<string, string>> = {
  port: '--port',
  allNamespaces: '--all-namespaces',
  namespace: '--namespace',
};

/** Flags that only make sense with `--listen`. */
const SERVE_FLAGS: Readonly<Record<string, string>> = {
  namespaces: '--namespaces',
  allowedHost: '--allowed-host',
  tlsCertFile: '--tls-cert-file',
  tlsPrivateKeyFile: '--tls-private-key-file',
  insecureHttp: '--insecure-http',
  trustedProxies: '--trusted-proxies',
  healthProbeBindAddress: '--health-probe-bind-address',
  metricsBindAddress: '--metrics-bind-address',
  logLevel: '--log-level',
  logFormat: '--log-format',
};

const refuse = (flags: object, refused: Readonly<Record<string, string>>, why: string): void => {
  const given: Readonly<Record<string, unknown>> = { ...flags };
  for (const [key, flag] of Object.entries(refused)) if (given[key] !== undefined) throw new OptionError(flag, why);
};

/** Throws an `OptionError` for a flag that would do nothing without `--listen`. */
export const refuseServeFlags = (flags: object): void => refuse(flags, SERVE_FLAGS, 'needs --listen: give both');

/** Validates the flags and fills in the defaults. Throws an `OptionError` that names the first bad flag. */
export const resolveServeOptions = (flags: ServeFlags, { terminal }: { terminal: boolean }): ServeOptions => {
  refuse(flags, OWN_FLAGS, 'conflicts with --listen: leave one of them out');
  if (flags.as !== undefined)
    throw new OptionError('--as', 'conflicts with --listen: callers act with their own token');
  const listen = parseBindAddress('--listen', flags.listen ?? '');
  if (listen === undefined) throw new OptionError('--listen', 'is 0: give the address to serve, such as :8443');
  const tls = tlsFiles(flags);
  const namespaces = flags.namespaces === undefined ? undefined : list('--namespaces', flags.namespaces);
  const names = (flags.allowedHost ?? []).map((host) => hostHeader('--allowed-host', host));
  return {
    listen,
    tls,
    namespaces: namespaces?.map((name) => objectName('--namespaces', name, 'label')),
    isProxy: parseProxies(
      '--trusted-proxies',
      flags.trustedProxies === undefined ? [] : list('--trusted-proxies', flags.trustedProxies),
    ),
    health: parseBindAddress('--health-probe-bind-address', flags.healthProbeBindAddress ?? '0'),
    metrics: parseBindAddress('--metrics-bind-address', flags.metricsBindAddress ?? '0'),
    sites: (port) => [
      tcpSite(tls ? 'https' : 'http', port, LOOPBACK),
      // Pages always reach it by HTTPS under these names: at its own port, or through a Service or a proxy at the usual one.
      { scheme: 'https', hosts: new Set([port, HTTPS_PORT].flatMap((at) => [...tcpSite('https', at, names).hosts])) },
    ],
    ...resolveLog(flags, { terminal }),
  };
};
