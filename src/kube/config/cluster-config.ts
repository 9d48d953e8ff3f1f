/** A secret or certificate: inline text, or a file that may be rotated at any time. */
export type Source = { from: 'text'; text: string } | { from: 'file'; path: string };

/** A credential plugin (client.authentication.k8s.io). */
export interface ExecPlugin {
  apiVersion: 'client.authentication.k8s.io/v1' | 'client.authentication.k8s.io/v1beta1';
  /** An absolute path, or a name in PATH. */
  command: string;
  args: string[];
  env: { name: string; value: string }[];
  provideClusterInfo: boolean;
  interactiveMode: 'Never' | 'IfAvailable' | 'Always';
  installHint?: string;
  /** The cluster's `client.authentication.k8s.io/exec` extension, passed to the plugin unchanged. */
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

/** How to reach one cluster. `auth` contains secrets: never log it. */
export interface ClusterConfig {
  /** Base URL without a trailing slash. */
  server: string;
  /** Of the context; `default` when it names none. */
  namespace: string;
  /** The kubeconfig's context; undefined in a cluster. */
  context?: string;
  /** Where the configuration was found, for messages. */
  source: string;
  /** PEM bundle to trust instead of the system's authorities. */
  certificateAuthority?: Source;
  insecureSkipTlsVerify: boolean;
  /** Expected name in the server's certificate, instead of the URL's host. */
  tlsServerName?: string;
  /** `http:`, `https:` or `socks5:`. */
  proxyUrl?: string;
  auth: Auth;
  impersonate?: Impersonation;
}

/** An unusable configuration. The message names the file, the field and what to do. */
export class ConfigError extends Error {
  readonly code = 'InvalidConfig';
  readonly file: string | undefined;

  constructor(message: string, extra: { file?: string; cause?: unknown } = {}) {
    super(extra.file === undefined ? message : `${extra.file}: ${message}`, { cause: extra.cause });
    this.name = 'ConfigError';
    this.file = extra.file;
  }
}
