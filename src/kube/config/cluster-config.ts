/** A secret or certificate: given as text, or read from a file that may be rotated under us. */
export type Source = { from: 'text'; text: string } | { from: 'file'; path: string };

/** A credential plugin (client.authentication.k8s.io). */
export interface ExecPlugin {
  apiVersion: 'client.authentication.k8s.io/v1' | 'client.authentication.k8s.io/v1beta1';
  /** Absolute, or a name that is looked up in PATH. */
  command: string;
  args: string[];
  env: { name: string; value: string }[];
  provideClusterInfo: boolean;
  interactiveMode: 'Never' | 'IfAvailable' | 'Always';
  installHint?: string;
  /** The cluster's extension of the name `client.authentication.k8s.io/exec`, handed to the plugin as it is. */
  clusterConfig?: unknown;
}

export interface Auth {
  certificate?: { cert: Source; key: Source };
  token?: Source;
  basic?: { username: string; password: string };
  exec?: ExecPlugin;
}

export interface Impersonation {
  user: string;
  uid?: string;
  groups: string[];
  extra: Record<string, string[]>;
}

/** All that is needed to talk to one cluster. `auth` holds secrets: never log it. */
export interface ClusterConfig {
  /** Base URL without a trailing slash. */
  server: string;
  /** Of the context; `default` when it names none. */
  namespace: string;
  /** The kubeconfig's context; undefined in a cluster. */
  context?: string;
  /** Where this came from, for messages. */
  source: string;
  /** PEM of the authorities to trust instead of the system's. */
  certificateAuthority?: Source;
  insecureSkipTlsVerify: boolean;
  /** Name to expect in the server's certificate instead of the URL's host. */
  tlsServerName?: string;
  /** `http:`, `https:` or `socks5:`. */
  proxyUrl?: string;
  auth: Auth;
  impersonate?: Impersonation;
}

/** A configuration that cannot be used. The message names the file, the field and the cure. */
export class ConfigError extends Error {
  readonly code = 'InvalidConfig';
  readonly file: string | undefined;

  constructor(message: string, extra: { file?: string; cause?: unknown } = {}) {
    super(extra.file === undefined ? message : `${extra.file}: ${message}`, { cause: extra.cause });
    this.name = 'ConfigError';
    this.file = extra.file;
  }
}
