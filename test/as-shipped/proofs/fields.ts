import type { Proofs } from '../cases.ts';

const STAGES = 'conformance/native/stages.ts';
const WINDOWS = 'conformance/windows/index.ts';
const LIMITS = 'conformance/native/limits.ts';
const CHECKS = 'conformance/native/checks.ts';
const SECRETS = `${CHECKS}: one is asked with the credentials`;
const ARGO = 'cluster/stage-checks.test.ts: makes the plan invalid until Argo Rollouts';
const RINGS = `${STAGES}: one ring follows the other`;
const DECISIONS = 'conformance/plugin/decisions.ts: stages are approved and promoted by name';
const BUSY = 'conformance/busy/index.ts: that a label, a taint or a condition marks begin no update';
const ORDER = `${LIMITS}: no node is updated before the whole rollout`;

export const planFields: Proofs = {
  'stages[].name': [RINGS, "ring('lab'"],
  'stages[].nodes.selector': [RINGS, 'ring('],
  'stages[].nodes.count': `${STAGES}: a sample is drawn once`,
  'stages[].maxUnavailable': `${LIMITS}: its failureThreshold and its maxUnavailable`,
  'stages[].failureThreshold': `${LIMITS}: its failureThreshold and its maxUnavailable`,
  'stages[].promote.coverage': `${LIMITS}: coverage and minNodes`,
  'stages[].promote.minNodes': `${LIMITS}: coverage and minNodes`,
  'stages[].promote.soak': RINGS,
  'stages[].promote.checks': `${CHECKS}: a Prometheus that hangs`,
  'stages[].promote.approval.required': RINGS,
  'stages[].promote.timeout': `${STAGES}: a stage that times out`,
  'stages[].promote.onTimeout': `${STAGES}: a stage that times out`,
  'checks[].name': [`${CHECKS}: a Prometheus that hangs`, 'checkOf'],
  'checks[].prometheus.address': `${CHECKS}: a Prometheus that hangs`,
  'checks[].prometheus.query': `${CHECKS}: one is false as often as failureLimit`,
  'checks[].prometheus.condition': [
    'cluster/stage-checks.test.ts: halts the rollout when its condition is false',
    'is false',
  ],
  'checks[].prometheus.interval': [`${CHECKS}: one is false as often as failureLimit`, 'prometheus('],
  'checks[].prometheus.failureLimit': `${CHECKS}: one is false as often as failureLimit`,
  'checks[].prometheus.initialDelay': `${CHECKS}: one is false as often as failureLimit`,
  'checks[].prometheus.credentials.secretName': SECRETS,
  'checks[].prometheus.tls.caSecretName': SECRETS,
  'checks[].prometheus.tls.serverName': SECRETS,
  'checks[].prometheus.tls.insecureSkipVerify': SECRETS,
  'checks[].analysis.templateName': ARGO,
  'checks[].analysis.clusterTemplateName': 'cluster/stage-checks.test.ts: runs a template of the cluster',
  'checks[].analysis.args[].name': ARGO,
  'checks[].analysis.args[].value': ARGO,
  'windows[].days': `${WINDOWS}: past midnight, a window belongs`,
  'windows[].to': [`${WINDOWS}: a window closes on the minute`, 'windowUntil'],
  'windows[].timeZone': `${WINDOWS}: past midnight, a window belongs`,
  windowsOnRollback: `${WINDOWS}: an edit midway closes and opens`,
  'windows[].from': [`${STAGES}: a plan that is missing holds the rollout`, "from: '00:00'"],
  'freezes[].from': [`${STAGES}: a plan that is missing holds the rollout`, "from: '2000-01-01'"],
  'freezes[].to': [`${STAGES}: a plan that is missing holds the rollout`, "to: '2200-01-01'"],
  'freezes[].reason': [`${STAGES}: a plan that is missing holds the rollout`, 'holidays'],
  'maxUnavailablePer[].topologyKey': `${STAGES}: no site loses two nodes at once`,
  'maxUnavailablePer[].value': [`${STAGES}: no site loses two nodes at once`, 'value: 1'],
  'after[].name': [`${STAGES}: each node gets the driver first`, "name: 'driver'"],
  'after[].apiGroup': ORDER,
  'after[].kind': ORDER,
  'after[].scope': ORDER,
  'skipNodes.selector': [BUSY, 'matchLabels'],
  'skipNodes.taints': [BUSY, 'taints: [TAINT]'],
  'skipNodes.conditions': [BUSY, 'conditions: [CONDITION]'],
  'approval.daemonSet.apiGroup': [
    'conformance/advanced/stages.ts: pods are updated in place ring by ring',
    "'Approve', KIND",
  ],
  'approval.daemonSet.name': [DECISIONS, 'daemonSet'],
  'approval.revision': DECISIONS,
  'approval.stage': DECISIONS,
  'approval.decision': DECISIONS,
  'approval.approvedBy': DECISIONS,
  'approval.comment': RINGS,
};

const ADVANCED = 'conformance/advanced';
const HOOK = `${ADVANCED}/lifecycle.ts`;
const COUNTS = `${ADVANCED}/status.ts: counts nodes and pods as native DaemonSets do`;

export const advancedFields: Proofs = {
  'spec.selector': [`${ADVANCED}/served.ts: a pod whose labels no longer match is released`, 'labels'],
  'spec.template': [`${ADVANCED}/served.ts: pods are created, and replaced node by node`, 'setImage'],
  'spec.minReadySeconds': `${ADVANCED}/rolling.ts: minReadySeconds counts as down`,
  'spec.revisionHistoryLimit': `${ADVANCED}/revisions.ts: as many are kept as the limit says`,
  'spec.burstReplicas': `${ADVANCED}/placement.ts: no more than burstReplicas creations`,
  'spec.updateStrategy.type': `${ADVANCED}/warnings.ts: a topology key spreads each wave`,
  'spec.updateStrategy.rollingUpdate.rollingUpdateType': `${ADVANCED}/surge.ts: Surging (\${version}) is a surge of one`,
  'spec.updateStrategy.rollingUpdate.maxUnavailable': `${ADVANCED}/rolling.ts: lowering maxUnavailable midway`,
  'spec.updateStrategy.rollingUpdate.maxSurge': `${ADVANCED}/surge.ts: maxSurge \${maxSurge} of \${nodes} nodes`,
  'spec.updateStrategy.rollingUpdate.selector': `${ADVANCED}/rolling.ts: a node selector updates only matching nodes`,
  'spec.updateStrategy.rollingUpdate.partition': `${ADVANCED}/partition.ts: keeps that many nodes on the old revision`,
  'spec.updateStrategy.rollingUpdate.paused': `${ADVANCED}/rolling.ts: pausing stops updates midway`,
  'spec.scaleStrategy.partitionedScaling': `${ADVANCED}/placement.ts: with progressive creation new nodes`,
  'spec.lifecycle.preDelete.labelsHandler': `${ADVANCED}/served.ts: a pod with a preDelete hook is deleted once`,
  'spec.lifecycle.preDelete.finalizersHandler': `${HOOK}: a finalizer of the hook also holds a pod`,
  'spec.lifecycle.preDelete.markPodNotReady': `${ADVANCED}/served.ts: a pod with a preDelete hook is deleted once`,
  'spec.lifecycle.inPlaceUpdate': 'docs/reference/advanced-daemonset.md',
  'status.currentNumberScheduled': COUNTS,
  'status.desiredNumberScheduled': COUNTS,
  'status.numberMisscheduled': `${ADVANCED}/status.ts: a pod on a node that is no longer eligible is misscheduled`,
  'status.numberReady': `${ADVANCED}/status.ts: a pod that is ready counts as available after minReadySeconds`,
  'status.numberAvailable': `${ADVANCED}/status.ts: a pod that is ready counts as available after minReadySeconds`,
  'status.numberUnavailable': `${ADVANCED}/status.ts: a pod that is ready counts as available after minReadySeconds`,
  'status.updatedNumberScheduled': `${ADVANCED}/placement.ts: a recreated pod has the current revision`,
  'status.observedGeneration': COUNTS,
  'status.collisionCount': `${ADVANCED}/revisions.ts: a name that another revision has counts as a collision`,
  'status.updateRevision': `${ADVANCED}/revisions.ts: going back to an earlier template`,
  'status.daemonSetHash': COUNTS,
  'status.conditions': COUNTS,
};
