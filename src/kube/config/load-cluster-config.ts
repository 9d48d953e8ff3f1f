import { access, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { OptionError } from '../../runtime/index.ts';
import { type ClusterConfig, ConfigError } from './cluster-config.ts';
import { applyOverrides, type ConfigOverrides, configFromFlags } from './overrides.ts';
import { proxyFromEnvironment } from './proxy-from-environment.ts';

export interface LoadOptions {
  /** The `--kubeconfig` flag: only this file, which must exist. */
  kubeconfig?: string | undefined;
  /** The `--context` flag. Default: the file's current context. Setting it skips the in-cluster configuration. */
  context?: string | undefined;
  /** Further flags. Those that name entries of a kubeconfig skip the in-cluster configuration, too. */
  overrides?: ConfigOverrides;
  /** Default: the process' environment. */
  env?: Record<string, string | undefined>;
  /** Default: the user's home directory. */
  home?: string;
  /** Where the pod's service account is mounted. */
  serviceAccountDir?: string;
}

const SERVICE_ACCOUNT_DIR = '/var/run/secrets/kubernetes.io/serviceaccount';

const inCluster = async (dir: string, env: Record<string, string | undefined>): Promise<ClusterConfig | undefined> => {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  if (!host || !port) return undefined;
  const tokenFile = join(dir, 'token');
  const caFile = join(dir, 'ca.crt');
  const exists = (file: string): Promise<boolean> =>
    access(file).then(
      () => true,
      () => false,
    );
  // A pod without a service account has no in-cluster configuration.
  if (!(await exists(tokenFile))) return undefined;
  const namespace = await readFile(join(dir, 'namespace'), 'utf8').catch(() => '');
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    namespace: namespace.trim() || 'default',
    source: 'in-cluster',
    insecureSkipTlsVerify: false,
    auth: { token: { from: 'file', path: tokenFile } },
    ...((await exists(caFile)) ? { certificateAuthority: { from: 'file', path: caFile } as const } : {}),
  };
};

/** Imported on demand: a pod has no kubeconfig and saves the memory of its parser. */
const fromKubeconfig = async (files: readonly string[], { context, overrides }: LoadOptions) => {
  const { readKubeconfig, selectContext } = await import('./kubeconfig.ts');
  const config = await readKubeconfig(files);
  return config && selectContext(config, context, overrides);
};

const homeDirectory = (): string => {
  try {
    return homedir();
  } catch {
    // HOME is unset and the UID has no passwd entry, as in many containers.
    return '/';
  }
};

const listedFiles = ({ KUBECONFIG = '' }: Readonly<Record<string, string | undefined>>): string[] =>
  KUBECONFIG.split(delimiter).filter((file) => file !== '');

const defaultFile = (home: string): string => join(home, '.kube', 'config');

const find = async (options: LoadOptions): Promise<ClusterConfig> => {
  const {
    kubeconfig,
    context,
    env = process.env,
    home = homeDirectory(),
    serviceAccountDir = SERVICE_ACCOUNT_DIR,
    overrides = {},
  } = options;
  if (kubeconfig !== undefined) {
    const config = await fromKubeconfig([kubeconfig], options);
    if (config === undefined)
      throw new OptionError(
        '--kubeconfig',
        `"${kubeconfig}" does not exist: give the path of a file, or leave the flag out`,
      );
    return config;
  }
  const listed = listedFiles(env);
  if (listed.length > 0) {
    const config = await fromKubeconfig(listed, options);
    if (config === undefined) throw new ConfigError(`KUBECONFIG: none of its files exist: ${listed.join(', ')}`);
    return config;
  }
  const named = context ?? overrides.cluster ?? overrides.user;
  const pod = named === undefined ? await inCluster(serviceAccountDir, env) : undefined;
  if (pod !== undefined) return pod;
  const file = defaultFile(home);
  const config =
    (await fromKubeconfig([file], options)) ?? (named === undefined ? configFromFlags(overrides) : undefined);
  if (config === undefined)
    throw new ConfigError(
      `no cluster is configured: give --kubeconfig, set KUBECONFIG, run in a pod, or create ${file}`,
    );
  return config;
};

/**
 * Finds the cluster: the flag's file, then KUBECONFIG, the pod's service account and `~/.kube/config`. Throws a
 * `ConfigError` that names the file, the field and what to do, or an `OptionError` when the flag's file does not exist.
 */
export const loadClusterConfig = async (options: LoadOptions = {}): Promise<ClusterConfig> => {
  const config = applyOverrides(await find(options), options.overrides ?? {});
  const proxyUrl = config.proxyUrl ?? proxyFromEnvironment(config.server, options.env ?? process.env);
  return proxyUrl === undefined ? config : { ...config, proxyUrl };
};

/** What `--context`, `--cluster` and `--user` can name. Throws a `ConfigError`. */
export const kubeconfigNames = async ({
  kubeconfig,
  env = process.env,
  home = homeDirectory(),
}: Pick<LoadOptions, 'kubeconfig' | 'env' | 'home'>): Promise<Record<'context' | 'cluster' | 'user', string[]>> => {
  const { readKubeconfig } = await import('./kubeconfig.ts');
  const listed = listedFiles(env);
  const files = kubeconfig === undefined ? (listed.length > 0 ? listed : [defaultFile(home)]) : [kubeconfig];
  const config = await readKubeconfig(files);
  return {
    context: [...(config?.contexts.keys() ?? [])],
    cluster: [...(config?.clusters.keys() ?? [])],
    user: [...(config?.users.keys() ?? [])],
  };
};
