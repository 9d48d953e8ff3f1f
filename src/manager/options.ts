import {
  type BindAddress,
  type LogOptions,
  list,
  nonEmpty,
  objectName,
  oneOf,
  parseBindAddress,
  resolveLog,
} from '../process/index.ts';
import { OptionError, parseDuration } from '../runtime/index.ts';

/** The flags of `edgeset manager` as they were typed; a flag that was not given is absent. */
export interface ManagerFlags {
  kubeconfig?: string;
  context?: string;
  /** Comma-separated. */
  controllers?: string;
  /** Comma-separated. */
  namespaces?: string;
  /** `true` when given without a value, as below. */
  predownload?: string | boolean;
  leaderElect?: string | boolean;
  leaderElectionNamespace?: string;
  leaderElectionId?: string;
  leaderElectionLeaseDuration?: string;
  leaderElectionRenewDeadline?: string;
  leaderElectionRetryPeriod?: string;
  metricsBindAddress?: string;
  healthProbeBindAddress?: string;
  kubeApiQps?: string;
  kubeApiBurst?: string;
  logLevel?: string;
  logFormat?: string;
}

/** What the flags' defaults depend on. */
export interface OptionDefaults {
  /** Controllers that this build knows. */
  controllers: readonly string[];
  /** Namespace of the pod that we run in; undefined outside of a cluster. */
  podNamespace: string | undefined;
  /** The log goes to a person's terminal. */
  terminal: boolean;
}

export interface LeaderElectionOptions {
  /** Of the Lease. Default: the pod's own, else `edgeset-system`. */
  namespace: string;
  /** Name of the Lease. Default `edgeset-manager`. */
  id: string;
  /** How long others respect a lease that is no longer renewed. Default 15 s. */
  leaseDurationMs: number;
  /** How long the leader tries to renew before it stops leading. Default 10 s; less than the lease duration. */
  renewDeadlineMs: number;
  /** Between tries to acquire or renew. Default 2 s; less than the renew deadline. */
  retryPeriodMs: number;
}

export interface ManagerOptions extends LogOptions {
  /** Path of a kubeconfig; undefined: KUBECONFIG, then the pod's service account, then ~/.kube/config. */
  kubeconfig: string | undefined;
  /** Default: the kubeconfig's current context. */
  context: string | undefined;
  /** Default: all that this build knows. Never empty, no duplicates. */
  controllers: readonly string[];
  /** Undefined: all. */
  namespaces: readonly string[] | undefined;
  /** Images are pulled ahead of updates also where no annotation says so. Default: false. */
  predownload: boolean;
  /** Undefined: this process leads at once, and whoever starts it answers for there being no other. */
  leaderElection: LeaderElectionOptions | undefined;
  /** Default `127.0.0.1:8080`: /metrics is not authenticated, so other machines see it only when asked for. */
  metrics: BindAddress | undefined;
  /** Default `127.0.0.1:8081`. */
  health: BindAddress | undefined;
  /** Requests a second to the API server, on average; 0: no limit. Default 100. */
  qps: number;
  /** Requests at once above that. Default 200: a wave of this size begins within a second (L5). */
  burst: number;
}

const defaultNamespace = 'edgeset-system';

const number = (flag: string, text: string, wanted: string, accepts: (value: number) => boolean): number => {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || !accepts(value))
    throw new OptionError(flag, `"${text}" is not ${wanted}`);
  return value;
};

const boolean = (flag: string, value: string | boolean): boolean => {
  if (typeof value === 'boolean') return value;
  return oneOf(flag, value.toLowerCase(), ['true', 'false']) === 'true';
};

const resolveLeaderElection = (
  flags: ManagerFlags,
  { podNamespace = defaultNamespace }: OptionDefaults,
): LeaderElectionOptions => {
  const lease = '--leader-election-lease-duration';
  const deadline = '--leader-election-renew-deadline';
  const retry = '--leader-election-retry-period';
  const options = {
    namespace: objectName('--leader-election-namespace', flags.leaderElectionNamespace ?? podNamespace, 'label'),
    id: objectName('--leader-election-id', flags.leaderElectionId ?? 'edgeset-manager', 'subdomain'),
    leaseDurationMs: parseDuration(lease, flags.leaderElectionLeaseDuration ?? '15s'),
    renewDeadlineMs: parseDuration(deadline, flags.leaderElectionRenewDeadline ?? '10s'),
    retryPeriodMs: parseDuration(retry, flags.leaderElectionRetryPeriod ?? '2s'),
  };
  // The Lease holds whole seconds: a fraction would be respected by us and not by others.
  if (options.leaseDurationMs % 1000 !== 0)
    throw new OptionError(lease, `${options.leaseDurationMs} ms is not a whole number of seconds: round it up`);
  if (options.renewDeadlineMs >= options.leaseDurationMs)
    throw new OptionError(deadline, `must be shorter than ${lease}: else two managers could lead at once`);
  // Retries are spread by up to a fifth.
  if (options.retryPeriodMs * 1.2 >= options.renewDeadlineMs)
    throw new OptionError(retry, `must be well below ${deadline}: else one failed try loses the lease`);
  return options;
};

/** Validates the flags and fills in the defaults. Throws an `OptionError` that names the first bad flag. */
export const resolveManagerOptions = (flags: ManagerFlags, surroundings: OptionDefaults): ManagerOptions => {
  const leads = resolveLeaderElection(flags, surroundings);
  const namespaces = flags.namespaces === undefined ? undefined : list('--namespaces', flags.namespaces);
  return {
    kubeconfig: nonEmpty('--kubeconfig', flags.kubeconfig),
    context: nonEmpty('--context', flags.context),
    controllers: list('--controllers', flags.controllers ?? surroundings.controllers.join(',')).map((name) =>
      oneOf('--controllers', name, surroundings.controllers),
    ),
    namespaces: namespaces?.map((name) => objectName('--namespaces', name, 'label')),
    predownload: boolean('--predownload', flags.predownload ?? false),
    leaderElection: boolean('--leader-elect', flags.leaderElect ?? true) ? leads : undefined,
    metrics: parseBindAddress('--metrics-bind-address', flags.metricsBindAddress ?? '127.0.0.1:8080'),
    health: parseBindAddress('--health-probe-bind-address', flags.healthProbeBindAddress ?? '127.0.0.1:8081'),
    qps: number(
      '--kube-api-qps',
      flags.kubeApiQps ?? '100',
      'a number of requests a second: give 0 or more, 0 for no limit',
      (n) => n >= 0,
    ),
    burst: number(
      '--kube-api-burst',
      flags.kubeApiBurst ?? '200',
      'a number of requests: give a whole number from 1',
      (n) => Number.isInteger(n) && n >= 1,
    ),
    ...resolveLog(flags, surroundings),
  };
};
