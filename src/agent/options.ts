import { hostname } from 'node:os';
import { resolve } from 'node:path';
import {
  type BindAddress,
  certificateFiles,
  hostHeader,
  type LogOptions,
  list,
  nonEmpty,
  objectName,
  parseBindAddress,
  resolveLog,
} from '../process/index.ts';
import { canonicalTimeZone } from '../rollout/index.ts';
import { OptionError } from '../runtime/index.ts';
import { resolveUsers } from './auth/index.ts';
import { checkListen, type ListenOptions } from './http/index.ts';

/** The flags of `edgeset agent` as given; a flag that was not given is absent. */
export interface AgentFlags {
  kubeconfig?: string;
  context?: string;
  nodeName?: string;
  listen?: string;
  stateDir?: string;
  /** Comma-separated. */
  namespaces?: string;
  allowUser?: readonly string[];
  allowedHost?: readonly string[];
  tokenFile?: string;
  unixSocket?: string;
  tlsCertFile?: string;
  tlsPrivateKeyFile?: string;
  clientCaFile?: string;
  readNode?: boolean;
  safeCheck?: string;
  timeZone?: string;
  metricsBindAddress?: string;
  healthProbeBindAddress?: string;
  logLevel?: string;
  logFormat?: string;
}

/** What the defaults of the flags depend on. */
export interface OptionDefaults {
  environment: Readonly<Record<string, string | undefined>>;
  /** The log goes to a terminal. */
  terminal: boolean;
  /** Default `/etc/passwd`. */
  passwdFile?: string;
}

export interface AgentOptions extends LogOptions {
  /** Path of a kubeconfig. Undefined: KUBECONFIG, then the pod's service account, then ~/.kube/config. */
  kubeconfig: string | undefined;
  /** Default: the kubeconfig's current context. */
  context: string | undefined;
  /** Default: NODE_NAME. */
  node: string;
  /** Default: 127.0.0.1:10267, plain HTTP, no Unix socket. */
  listen: ListenOptions;
  /** Absolute. Default `/var/lib/edgeset`. */
  stateDir: string;
  /** Undefined: all. */
  namespaces: readonly string[] | undefined;
  /** Default: root only. */
  allowedUids: ReadonlySet<number>;
  tokenFile: string | undefined;
  /** The Node is read: the device's name, its administrator and the sizes of images. */
  readNode: boolean;
  /** Path of an executable, or an HTTP URL. */
  safeCheck: string | undefined;
  /** IANA name or offset. Default: the machine's time zone. */
  timeZone: string;
  /** Default off. */
  metrics: BindAddress | undefined;
  /** Default off. */
  health: BindAddress | undefined;
}

const nodeName = (flags: AgentFlags, { environment }: OptionDefaults): string => {
  const name = nonEmpty('--node-name', flags.nodeName) ?? environment.NODE_NAME;
  if (name === undefined || name === '')
    throw new OptionError('--node-name', `is required: give this node's name in the cluster, such as ${hostname()}`);
  return objectName('--node-name', name, 'subdomain');
};

const absolute = (flag: string, path: string | undefined): string | undefined => {
  if (nonEmpty(flag, path) !== undefined && !path?.startsWith('/'))
    throw new OptionError(flag, `"${path}" is not an absolute path: start it with /`);
  return path;
};

const safeCheck = (text: string | undefined): string | undefined => {
  const check = nonEmpty('--safe-check', text);
  if (check === undefined || check.startsWith('/')) return check;
  if (!/^https?:\/\//.test(check) || !URL.canParse(check))
    throw new OptionError('--safe-check', `"${check}" is neither the absolute path of an executable nor an HTTP URL`);
  return check;
};

const tlsFiles = (flags: AgentFlags): ListenOptions['tls'] => {
  const clientCaFile = nonEmpty('--client-ca-file', flags.clientCaFile);
  const files = certificateFiles(flags);
  if (files) return { ...files, clientCaFile };
  if (clientCaFile === undefined) return undefined;
  throw new OptionError('--client-ca-file', 'needs TLS: also give --tls-cert-file and --tls-private-key-file');
};

/** Default: the machine's, which in a container is UTC unless the host's /etc/localtime or TZ is passed in. */
const timeZone = (name: string | undefined): string => {
  const flag = '--time-zone';
  // oxlint-disable-next-line no-restricted-properties -- the time zone of the machine, not its time
  const zone = canonicalTimeZone(name ?? Temporal.Now.timeZoneId());
  if (zone !== undefined) return zone;
  throw new OptionError(
    flag,
    name === undefined
      ? "cannot determine the machine's time zone: give its name, such as Europe/Berlin"
      : `"${name}" is not a time zone: give an IANA name such as Europe/Berlin, or an offset such as +02:00`,
  );
};

/** Validates the flags and fills in the defaults. Throws an `OptionError` that names the first bad flag. */
export const resolveAgentOptions = (flags: AgentFlags, defaults: OptionDefaults): AgentOptions => {
  const tokenFile = nonEmpty('--token-file', flags.tokenFile);
  const listen: ListenOptions = {
    tcp: parseBindAddress('--listen', flags.listen ?? '127.0.0.1:10267'),
    tls: tlsFiles(flags),
    unixSocket: absolute('--unix-socket', flags.unixSocket),
    allowedHosts: (flags.allowedHost ?? []).map((host) => hostHeader('--allowed-host', host)),
  };
  checkListen(listen, tokenFile !== undefined);
  const namespaces = flags.namespaces === undefined ? undefined : list('--namespaces', flags.namespaces);
  return {
    kubeconfig: nonEmpty('--kubeconfig', flags.kubeconfig),
    context: nonEmpty('--context', flags.context),
    node: nodeName(flags, defaults),
    listen,
    stateDir: resolve(nonEmpty('--state-dir', flags.stateDir) ?? '/var/lib/edgeset'),
    namespaces: namespaces?.map((name) => objectName('--namespaces', name, 'label')),
    allowedUids: resolveUsers('--allow-user', flags.allowUser ?? ['root'], defaults.passwdFile),
    tokenFile,
    readNode: flags.readNode ?? false,
    safeCheck: safeCheck(flags.safeCheck),
    timeZone: timeZone(flags.timeZone),
    metrics: parseBindAddress('--metrics-bind-address', flags.metricsBindAddress ?? '0'),
    health: parseBindAddress('--health-probe-bind-address', flags.healthProbeBindAddress ?? '0'),
    ...resolveLog(flags, defaults),
  };
};
