import { type LeaderElectionFlags, type LeaderElectionOptions, resolveLeaderElection } from '../leading/index.ts';
import { type BindAddress, type LogOptions, nonEmpty, parseBindAddress, resolveLog } from '../process/index.ts';
import { DEFAULT_SETTLE_MS } from '../rollout/index.ts';
import { OptionError, parseDuration } from '../runtime/index.ts';
import type { FleetTerms } from './fleet.ts';
import type { ReachTerms } from './reach-of.ts';

/** The flags of `edgeset reach` as typed. */
export interface ReachFlags extends LeaderElectionFlags {
  kubeconfig?: string;
  context?: string;
  settleTime?: string;
  suspectWindow?: string;
  fleetCheckinInterval?: string;
  fleetOfflineAfter?: string;
  metricsBindAddress?: string;
  healthProbeBindAddress?: string;
  logLevel?: string;
  logFormat?: string;
}

export interface ReachOptions extends LogOptions {
  /** Path of a kubeconfig; undefined: KUBECONFIG, then the pod's service account, then ~/.kube/config. */
  kubeconfig: string | undefined;
  /** Default: the kubeconfig's current context. */
  context: string | undefined;
  /** Defaults: 10 s, as for nodes, and 15 min. */
  terms: ReachTerms;
  fleet: FleetTerms;
  /** Undefined: the process leads at once, and its operator ensures that there is no other. */
  leaderElection: LeaderElectionOptions | undefined;
  /** Default `127.0.0.1:8080`. */
  metrics: BindAddress | undefined;
  /** Default `127.0.0.1:8081`. */
  health: BindAddress | undefined;
}

/** Three times that of nodes: to update a cluster takes longer, and a version may cut its link at the last of its nodes. */
const DEFAULT_SUSPECT_WINDOW_MS = 900_000;

/** Fleet's own default, `agentCheckinInterval`. */
const DEFAULT_CHECK_IN = '15m';
/** Check-ins that may be missed, by default. */
const MISSED = 3;

/** A duration from `0`, which `parseDuration` refuses. */
const durationOrZero = (flag: string, text: string): number => (/^0s?$/.test(text) ? 0 : parseDuration(flag, text));

/** Validates the flags and fills in the defaults. Throws an `OptionError` that names the first bad flag. */
export const resolveReachOptions = (
  flags: ReachFlags,
  defaults: { podNamespace: string | undefined; terminal: boolean },
): ReachOptions => {
  const checkInFlag = '--fleet-checkin-interval';
  const offlineFlag = '--fleet-offline-after';
  const checkInMs = parseDuration(checkInFlag, flags.fleetCheckinInterval ?? DEFAULT_CHECK_IN);
  const offlineAfterMs =
    flags.fleetOfflineAfter === undefined ? MISSED * checkInMs : parseDuration(offlineFlag, flags.fleetOfflineAfter);
  if (offlineAfterMs <= checkInMs)
    throw new OptionError(
      offlineFlag,
      `must be longer than ${checkInFlag}, which is ${checkInMs / 1000} s: otherwise clusters that check in would count as away`,
    );
  return {
    kubeconfig: nonEmpty('--kubeconfig', flags.kubeconfig),
    context: nonEmpty('--context', flags.context),
    terms: {
      settleMs: flags.settleTime === undefined ? DEFAULT_SETTLE_MS : durationOrZero('--settle-time', flags.settleTime),
      suspectWindowMs:
        flags.suspectWindow === undefined
          ? DEFAULT_SUSPECT_WINDOW_MS
          : durationOrZero('--suspect-window', flags.suspectWindow),
    },
    fleet: { checkInMs, offlineAfterMs },
    leaderElection: resolveLeaderElection(flags, { id: 'edgeset-reach', podNamespace: defaults.podNamespace }),
    metrics: parseBindAddress('--metrics-bind-address', flags.metricsBindAddress ?? '127.0.0.1:8080'),
    health: parseBindAddress('--health-probe-bind-address', flags.healthProbeBindAddress ?? '127.0.0.1:8081'),
    ...resolveLog(flags, defaults),
  };
};
