import { resolve } from 'node:path';
import { OptionError } from '../../runtime/index.ts';
import type { ClusterConfig } from './cluster-config.ts';

/** Flags that replace parts of a configuration, named as in kubectl. */
export interface ConfigOverrides {
  /** Names of a cluster and of a user of the kubeconfig, instead of the context's. */
  cluster?: string | undefined;
  user?: string | undefined;
  /** `https://HOST:PORT`; without a kubeconfig it is enough. */
  server?: string | undefined;
  /** A file. */
  certificateAuthority?: string | undefined;
  tlsServerName?: string | undefined;
  /** Also ignores the configured certificate authority. */
  insecureSkipTlsVerify?: boolean | undefined;
  /** Replaces all credentials of the user, except for what the two files below say. */
  token?: string | undefined;
  /** Files, both or none. They replace all credentials of the user, except for `token`. */
  clientCertificate?: string | undefined;
  clientKey?: string | undefined;
  /** The user to impersonate. Replaces an impersonation of the kubeconfig. */
  as?: string | undefined;
  asGroup?: readonly string[] | undefined;
  asUid?: string | undefined;
}

const serverOf = (text: string): string => {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new OptionError('--server', `"${text}" is not a URL: give one such as https://10.0.0.1:6443`);
  return text.replace(/(?<!\/)\/+$/, '');
};

/** A cluster that only the flags describe; undefined without `--server`. */
export const configFromFlags = ({ server }: ConfigOverrides): ClusterConfig | undefined =>
  server === undefined
    ? undefined
    : { server: serverOf(server), namespace: 'default', source: '--server', insecureSkipTlsVerify: false, auth: {} };

/** The credentials that the flags give; undefined without any. */
const authFromFlags = ({ token, clientCertificate, clientKey }: ConfigOverrides): ClusterConfig['auth'] | undefined => {
  if (clientCertificate !== undefined && clientKey === undefined)
    throw new OptionError('--client-certificate', 'requires the key of the certificate: give --client-key FILE');
  if (clientKey !== undefined && clientCertificate === undefined)
    throw new OptionError('--client-key', 'requires the certificate: give --client-certificate FILE');
  const file = (path: string) => ({ from: 'file', path: resolve(path) }) as const;
  const certificate = clientCertificate !== undefined &&
    clientKey !== undefined && { cert: file(clientCertificate), key: file(clientKey) };
  if (token === undefined && !certificate) return undefined;
  return { ...(token !== undefined && { token: { from: 'text', text: token } }), ...(certificate && { certificate }) };
};

/** The configuration with the flags applied. Throws an `OptionError` for an invalid one. */
export const applyOverrides = (config: ClusterConfig, flags: ConfigOverrides): ClusterConfig => {
  const { server, certificateAuthority, tlsServerName, insecureSkipTlsVerify, as, asGroup, asUid } = flags;
  const changed: ClusterConfig = { ...config };
  if (server !== undefined) changed.server = serverOf(server);
  if (tlsServerName !== undefined) changed.tlsServerName = tlsServerName;
  if (insecureSkipTlsVerify && certificateAuthority !== undefined)
    throw new OptionError('--insecure-skip-tls-verify', 'conflicts with --certificate-authority: give one of them');
  if (insecureSkipTlsVerify) {
    changed.insecureSkipTlsVerify = true;
    delete changed.certificateAuthority;
  } else if (certificateAuthority !== undefined) {
    changed.insecureSkipTlsVerify = false;
    changed.certificateAuthority = { from: 'file', path: resolve(certificateAuthority) };
  }
  changed.auth = authFromFlags(flags) ?? changed.auth;
  if (as === undefined) {
    const orphan = asUid === undefined ? asGroup && '--as-group' : '--as-uid';
    if (orphan) throw new OptionError(orphan, 'requires --as, the user to impersonate: give --as USER');
  } else
    changed.impersonate = {
      user: as,
      groups: [...(asGroup ?? [])],
      extra: {},
      ...(asUid !== undefined && { uid: asUid }),
    };
  return changed;
};
