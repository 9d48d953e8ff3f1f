import { parseAddress, sayProblem, shownAddress } from '../checks/index.ts';
import { type LeaderElectionFlags, type LeaderElectionOptions, resolveLeaderElection } from '../leading/index.ts';
import {
  type BindAddress,
  boolean,
  type LogOptions,
  list,
  nonEmpty,
  number,
  objectName,
  oneOf,
  parseBindAddress,
  resolveLog,
} from '../process/index.ts';
import { type IntOrPercent, readFirstWave } from '../rollout/index.ts';
import { OptionError } from '../runtime/index.ts';

/** The flags of `edgeset manager` as typed. */
export interface ManagerFlags extends LeaderElectionFlags {
  kubeconfig?: string;
  context?: string;
  /** Comma-separated. */
  controllers?: string;
  /** Comma-separated. */
  namespaces?: string;
  /** `true` when set without a value, as below. */
  predownload?: string | boolean;
  firstWave?: string;
  checkOpenkruiseLease?: string | boolean;
  metricsBindAddress?: string;
  healthProbeBindAddress?: string;
  kubeApiQps?: string;
  kubeApiBurst?: string;
  notificationsConfig?: string;
  prometheusAddress?: string;
  /** Comma-separated. */
  allowedCheckAddresses?: string;
  logLevel?: string;
  logFormat?: string;
}

/** What the defaults of the flags depend on. */
export interface OptionDefaults {
  /** Controllers in this build. */
  controllers: readonly string[];
  /** Namespace of the manager's own pod; undefined outside a cluster. */
  podNamespace: string | undefined;
  /** The log goes to a terminal. */
  terminal: boolean;
}

export interface ManagerOptions extends LogOptions {
  /** Path of a kubeconfig; undefined: KUBECONFIG, then the pod's service account, then ~/.kube/config. */
  kubeconfig: string | undefined;
  /** Default: the kubeconfig's current context. */
  context: string | undefined;
  /** Default: all controllers in this build. Never empty, no duplicates. */
  controllers: readonly string[];
  /** Undefined: all. */
  namespaces: readonly string[] | undefined;
  /** Prefetch images also where no annotation requests it. Default: false. */
  predownload: boolean;
  /** Undefined: the failure threshold of each DaemonSet. */
  firstWave: IntOrPercent | undefined;
  /** Hold Advanced DaemonSets while OpenKruise's manager has its Lease. Default: true. */
  checksOpenKruiseLease: boolean;
  /** Undefined: the process leads at once, and its operator ensures that there is no other. */
  leaderElection: LeaderElectionOptions | undefined;
  /** Default `127.0.0.1:8080`: /metrics is not authenticated, so exposing it to other machines is opt-in. */
  metrics: BindAddress | undefined;
  /** Default `127.0.0.1:8081`. */
  health: BindAddress | undefined;
  /** Average requests per second to the API server, without those of the leader election; 0, the default: no limit. */
  qps: number;
  /** With `qps`, the requests allowed at once. Default 200: a batch of this size starts within a second. */
  burst: number;
  /** Path of the configuration of notifications. Undefined: nobody is told. */
  notificationsConfig: string | undefined;
  /** The Prometheus that checks of plans ask which name none. Undefined: there is none. */
  prometheusAddress: string | undefined;
  /** Addresses that checks of plans of namespaces may name; those below them too. Default: none. */
  allowedCheckAddresses: readonly string[];
}

const firstWave = (flag: string, text: string): IntOrPercent => {
  const read = readFirstWave(text);
  if (!('value' in read)) throw new OptionError(flag, `"${text}" ${read.problem}: ${read.remedy}`);
  return read.value;
};

const address = (flag: string, text: string): string => {
  const parsed = parseAddress(text);
  if (!parsed.ok) throw new OptionError(flag, `"${shownAddress(text)}" ${sayProblem(parsed)}`);
  return `${parsed.address.origin}${parsed.address.path}`;
};

/** Validates the flags and fills in the defaults. Throws an `OptionError` that names the first bad flag. */
export const resolveManagerOptions = (flags: ManagerFlags, defaults: OptionDefaults): ManagerOptions => {
  const namespaces = flags.namespaces === undefined ? undefined : list('--namespaces', flags.namespaces);
  return {
    kubeconfig: nonEmpty('--kubeconfig', flags.kubeconfig),
    context: nonEmpty('--context', flags.context),
    controllers: list('--controllers', flags.controllers ?? defaults.controllers.join(',')).map((name) =>
      oneOf('--controllers', name, defaults.controllers),
    ),
    namespaces: namespaces?.map((name) => objectName('--namespaces', name, 'label')),
    predownload: boolean('--predownload', flags.predownload ?? false),
    firstWave: flags.firstWave === undefined ? undefined : firstWave('--first-wave', flags.firstWave),
    checksOpenKruiseLease: boolean('--check-openkruise-lease', flags.checkOpenkruiseLease ?? true),
    leaderElection: resolveLeaderElection(flags, { id: 'edgeset-manager', podNamespace: defaults.podNamespace }),
    metrics: parseBindAddress('--metrics-bind-address', flags.metricsBindAddress ?? '127.0.0.1:8080'),
    health: parseBindAddress('--health-probe-bind-address', flags.healthProbeBindAddress ?? '127.0.0.1:8081'),
    qps: number(
      '--kube-api-qps',
      flags.kubeApiQps ?? '0',
      'a number of requests per second: give 0 or more, 0 for no limit',
      (n) => n >= 0,
    ),
    burst: number(
      '--kube-api-burst',
      flags.kubeApiBurst ?? '200',
      'a number of requests: give a whole number from 1',
      (n) => Number.isInteger(n) && n >= 1,
    ),
    notificationsConfig: nonEmpty('--notifications-config', flags.notificationsConfig),
    prometheusAddress:
      flags.prometheusAddress === undefined ? undefined : address('--prometheus-address', flags.prometheusAddress),
    allowedCheckAddresses:
      flags.allowedCheckAddresses === undefined
        ? []
        : list('--allowed-check-addresses', flags.allowedCheckAddresses).map((each) =>
            address('--allowed-check-addresses', each),
          ),
    ...resolveLog(flags, defaults),
  };
};
