/** Annotation keys of the user interface, on DaemonSets. The `apps.openyurt.io` keys are OpenYurt's. */
export const annotation = {
  strategy: 'apps.openyurt.io/update-strategy',
  proposedStrategy: 'apps.openyurt.io/upgrade-strategy',
  maxUnavailable: 'apps.openyurt.io/max-unavailable',
  paused: 'edgeset.io/paused',
  partition: 'edgeset.io/partition',
  nodeSelector: 'edgeset.io/node-selector',
  settleSeconds: 'edgeset.io/settle-seconds',
  progressDeadlineSeconds: 'edgeset.io/progress-deadline-seconds',
  suspectWindowSeconds: 'edgeset.io/suspect-window-seconds',
  failureThreshold: 'edgeset.io/failure-threshold',
  firstWave: 'edgeset.io/first-wave',
  onFailure: 'edgeset.io/on-failure',
  onImageDrift: 'edgeset.io/on-image-drift',
  topologyKey: 'edgeset.io/topology-key',
  predownload: 'edgeset.io/predownload',
  predownloadParallelism: 'apps.kruise.io/image-predownload-parallelism',
  predownloadMinUpdatedReadyPods: 'apps.kruise.io/image-predownload-min-updated-ready-pods',
  predownloadTimeoutSeconds: 'apps.kruise.io/image-predownload-timeout-seconds',
  resume: 'edgeset.io/resume',
  rolledBackFrom: 'edgeset.io/rolled-back-from',
  otaDeadline: 'edgeset.io/ota-deadline',
  otaDeadlineSpread: 'edgeset.io/ota-deadline-spread',
  releaseNotes: 'edgeset.io/release-notes',
  rolloutPlan: 'edgeset.io/rollout-plan',
  preDeleteTimeoutSeconds: 'edgeset.io/predelete-timeout-seconds',
  recreate: 'edgeset.io/recreate',
} as const;

/** Second names of OpenYurt's settings, for those who expect all keys under one prefix. */
export const alias = {
  strategy: 'edgeset.io/update-strategy',
  maxUnavailable: 'edgeset.io/max-unavailable',
} as const;

export const aliasOf: Readonly<Record<string, string>> = {
  [annotation.strategy]: alias.strategy,
  [annotation.maxUnavailable]: alias.maxUnavailable,
};

/** Annotations, labels and finalizers that edgeset writes, or reads from objects other than DaemonSets. */
export const ownKey = {
  fence: 'edgeset.io/fence',
  finishedPods: 'edgeset.io/finished-pods',
  pullPod: 'edgeset.io/prefetch',
  pullRevision: 'edgeset.io/prefetch-revision',
  preDeleteFinalizer: 'edgeset.io/pre-delete',
  simulatedNode: 'edgeset.io/sim',
  timeZone: 'edgeset.io/time-zone',
  displayName: 'edgeset.io/display-name',
  administrator: 'edgeset.io/administrator',
  /** A label of a hub's clusters. */
  reach: 'edgeset.io/reach',
} as const;

/** Why somebody set a template, for people: kubectl writes it, and the controllers copy it to the revision. */
export const CHANGE_CAUSE = 'kubernetes.io/change-cause';

export const PREFIX = 'edgeset.io/';
export const OPENYURT_PREFIX = 'apps.openyurt.io/';

/** The annotations that opt a native DaemonSet in. */
export const strategyKeys: readonly string[] = [annotation.strategy, alias.strategy, annotation.proposedStrategy];

/** The keys that a user can mean: settings under the two prefixes, those under our own first. */
export const settingKeys: readonly string[] = [...Object.values(alias), ...Object.values(annotation)]
  .filter((key) => key.startsWith(PREFIX) || key.startsWith(OPENYURT_PREFIX))
  .toSorted((a, b) => Number(b.startsWith(PREFIX)) - Number(a.startsWith(PREFIX)));

/** Every key under the two prefixes that means something to edgeset. */
export const knownKeys: ReadonlySet<string> = new Set([...settingKeys, ...Object.values(ownKey)]);

/** The key that sets `setting`: its alias, if only that one is there. */
export const keyInUse = (annotations: Readonly<Record<string, string>>, setting: string): string => {
  const other = aliasOf[setting];
  return other !== undefined && annotations[setting] === undefined && annotations[other] !== undefined
    ? other
    : setting;
};
