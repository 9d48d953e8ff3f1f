import type { Proofs } from '../cases.ts';

const AHEAD = 'conformance/prefetch/ahead.ts';
const DRIFT = 'conformance/native/image-drift.ts';
const THRESHOLDS = 'conformance/native/breaker.ts';

const NODE =
  'cluster/agent-rights/agent-rights.test.ts: an agent with the flag for it shows the sizes of images and the names';

/** Of both kinds. */
const ofImages: Proofs = {
  'edgeset.io/predownload': [`${AHEAD}: are there before anything is done to a pod`, 'required'],
  'apps.kruise.io/image-predownload-parallelism': [`${AHEAD}: are pulled on this many nodes at a time`, 'PARALLELISM'],
  'apps.kruise.io/image-predownload-timeout-seconds': [
    `${AHEAD}: are waited for no longer than one try may take`,
    'TIMEOUT',
  ],
  'apps.kruise.io/image-predownload-min-updated-ready-pods': [
    `${AHEAD}: are pulled on the other nodes once this many are updated`,
    'MIN_UPDATED',
  ],
};

export const annotations: Proofs = {
  'edgeset.io/display-name': [NODE, 'edgeset.io/display-name'],
  'edgeset.io/administrator': [NODE, 'edgeset.io/administrator'],
  'edgeset.io/time-zone': ['conformance/windows/index.ts: each node has its window at its own time', 'setZone'],
  'apps.openyurt.io/update-strategy': [
    'conformance/native/opting-in.ts: auto and AdvancedRollingUpdate mean the same',
    'strategyKey',
  ],
  'edgeset.io/update-strategy': 'conformance/native/opting-in.ts: a misspelled annotation holds the rollout',
  'apps.openyurt.io/upgrade-strategy': [
    "conformance/native/opting-in.ts: the proposal's key upgrade-strategy is read too",
    'proposedKey',
  ],
  'apps.openyurt.io/max-unavailable': 'conformance/native/budget.ts: ${value} of ${nodes} nodes is ${size} at a time',
  'edgeset.io/max-unavailable': 'conformance/native/opting-in.ts: a misspelled annotation holds the rollout',
  'edgeset.io/paused': 'conformance/native/controls.ts: pausing stops the rollout midway',
  'edgeset.io/partition': ['conformance/native/controls.ts: partition keeps that many nodes', 'partition'],
  'edgeset.io/node-selector': 'conformance/native/controls.ts: node-selector updates only matching nodes',
  'edgeset.io/topology-key': 'conformance/native/order.ts: a topology key spreads each wave',
  'edgeset.io/rollout-plan': 'conformance/native/stages.ts: a plan that is missing holds the rollout',
  'edgeset.io/settle-seconds': [
    'conformance/native/offline.ts: a node that has come back is not updated for the settle time',
    'settle',
  ],
  'edgeset.io/progress-deadline-seconds': [`${THRESHOLDS}: \${behaviour} is a failure`, 'annotations'],
  'edgeset.io/suspect-window-seconds': [
    `${THRESHOLDS}: a suspect that is still offline at the end of the window is a failure`,
    'window',
  ],
  'edgeset.io/failure-threshold': [`${THRESHOLDS}: a threshold below the budget halts`, 'threshold'],
  'edgeset.io/first-wave': ['conformance/native/first-wave.ts: ${value} lets ${size} of 12 nodes try a version', 'key'],
  'edgeset.io/on-failure': [
    'conformance/native/rollback.ts: restores the template of the last complete revision',
    'rolledBack(c)',
  ],
  'edgeset.io/on-image-drift': [`${DRIFT}: with halt, stop the rollout until they agree`, 'haltedByDrift('],
  'edgeset.io/resume': `${THRESHOLDS}: resuming forgives the failures known so far`,
  ...ofImages,
  'edgeset.io/ota-deadline': 'conformance/agent/decisions.ts: is overridden by a deadline',
  'edgeset.io/ota-deadline-spread': 'conformance/agent/decisions.ts: is overridden by a deadline',
  'edgeset.io/release-notes': 'conformance/agent/decisions.ts: are made with the release notes',
  'edgeset.io/rolled-back-from': [
    'conformance/native/rollback.ts: the same revision stays halted when set again',
    'rolledBack(',
  ],
  'edgeset.io/fence': 'conformance/native/warnings.ts: a slot whose fence the API server refuses',
  'edgeset.io/finished-pods': ['conformance/advanced/placement.ts: failed pods are replaced with back-off', 'next'],
};

/** Of Advanced DaemonSets. */
export const advancedAnnotations: Proofs = {
  'daemonset.kruise.io/progressive-create-pod': [
    'conformance/advanced/placement.ts: with progressive creation new nodes get pods',
    'progressive-create-pod',
  ],
  'apps.kruise.io/inplace-update-grace': 'conformance/advanced/in-place-updates.ts: the grace period passes',
  'edgeset.io/predelete-timeout-seconds': 'conformance/advanced/lifecycle.ts: the annotation bounds the wait',
  'apps.openyurt.io/update-strategy': ['conformance/advanced/ota.ts: one request of the owner approves', 'withOwner'],
  'edgeset.io/settle-seconds': 'conformance/advanced/rolling.ts: a node that has come back is not updated',
  'edgeset.io/progress-deadline-seconds':
    'conformance/advanced/in-place-updates.ts: a pod whose in-place update misses the progress deadline',
  'edgeset.io/failure-threshold': 'conformance/advanced/rolling.ts: a version that kills nodes takes down no more',
  'edgeset.io/first-wave': 'conformance/advanced/first-wave.ts: one that fails everywhere is halted',
  'edgeset.io/topology-key': 'conformance/advanced/warnings.ts: a topology key spreads each wave',
  'edgeset.io/rollout-plan': ['conformance/advanced/stages.ts: pods are updated in place ring by ring', 'planKey'],
  'edgeset.io/suspect-window-seconds': 'conformance/advanced/warnings.ts: a version that takes nodes offline',
  'edgeset.io/on-failure': 'conformance/advanced/warnings.ts: on-failure restores',
  'edgeset.io/on-image-drift': 'conformance/advanced/image-drift.ts: halt a rollout, ${how}, and the DaemonSet says',
  'edgeset.io/resume': 'conformance/advanced/warnings.ts: on-failure restores',
  ...ofImages,
  'edgeset.io/ota-deadline': 'conformance/advanced/ota.ts: a deadline overrides owners',
  'edgeset.io/ota-deadline-spread': 'conformance/advanced/ota.ts: a deadline overrides owners',
  'edgeset.io/release-notes': ['conformance/agent/decisions.ts: are made with the release notes', 'kind'],
  'edgeset.io/finished-pods': ['conformance/advanced/placement.ts: failed pods are replaced with back-off', 'next'],
  'edgeset.io/recreate': [
    'conformance/advanced/partition.ts: keeps its nodes also where pods are deleted',
    'recreateKey',
  ],
  'edgeset.io/fence': ['conformance/advanced/leaders.ts: writes that a leader sent in an update ${name}', 'arrive'],
};
