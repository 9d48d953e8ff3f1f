import type { Hold } from '../decision/hold.ts';
import { managerReplacesPods, type Policy } from '../policy/policy.ts';
import { annotation } from '../policy/values.ts';
import type { Cause, Phase } from '../record/phase.ts';
import { livePod } from '../record/pods.ts';
import type { NodeRecord } from '../record/record.ts';
import { explainHold, seconds } from './explain-hold.ts';

/** Why a node is in its phase, for people. */
export interface Explanation {
  node: string;
  phase: Phase | 'not-eligible';
  cause: Cause | undefined;
  /** One sentence: the state of the node. */
  what: string;
  /** One sentence: what to do about it; empty if nothing. */
  remedy: string;
  /** When the node is reassessed without any event, epoch ms; undefined if only an event changes it. */
  lookedAtAgain: number | undefined;
}

interface Subject {
  record: NodeRecord;
  policy: Policy;
  hold: Hold | undefined;
  now: number;
}

/** A node that only waits for its turn: it is held by whatever holds the rollout as a whole, if anything does. */
const held = ({ record, hold, policy }: Subject, state: string, waitsFor: string, advice = ''): [string, string] => {
  if (!hold || (hold.kind === 'owner' && record.status.owner.approved)) return [`${state}, and ${waitsFor}`, advice];
  const { what, remedy } = explainHold(hold, policy.words);
  return [`${state}. ${what}`, remedy];
};

/** With the strategy ota: whether the pod shows the offer yet, and whether its owner has approved. */
const announcement = ({ record, policy }: Subject): string => {
  if (policy.strategy !== 'ota') return '';
  if (record.status.owner.announcement) return ', and the condition of its pod is not up to date yet';
  return record.status.owner.approved ? ', and its owner has approved the target' : '';
};

const ago = (time: number, now: number): string => seconds(now - time);

const detailOf = (record: NodeRecord): string => {
  const detail = livePod(record)?.facts.detail;
  return detail ? `: ${detail}` : '';
};

const causeOfPull = (record: NodeRecord): string => livePod(record)?.facts.images?.cause || 'no cause was reported';

const brokenVersion = 'Set a template that works here, or fix the cause and continue: kubectl edgeset resume.';

const aboutTo = {
  delete: 'its pod is about to be deleted',
  'in-place': 'its pod is about to be updated in place',
  surge: 'a new pod is about to be created beside its old one',
};

const unplaced = ({ pods }: NodeRecord) => pods.find(({ facts }) => facts.unbound && !facts.terminating)?.facts;

const SKIP_IMAGES = `set ${annotation.predownload} to off to update without them`;

/** The node's pod is not replaced before the images of the target are present. */
const awaited = ({ record, policy }: Subject): [string, string] => {
  const limit = policy.predownload === 'required' ? '' : ', or until the pre-download timeout';
  const waits = `waits until the images of the target revision are on it${limit}`;
  switch (record.status.images.state) {
    case 'wanted':
      return [
        `${waits}; its turn to pull them has not come`,
        `Raise ${annotation.predownloadParallelism} for more nodes at a time.`,
      ];
    case 'requested':
    case 'pulling':
      return [`${waits}: they are being pulled`, ''];
    case 'failed':
      return [
        `${waits}, but they cannot be pulled: ${causeOfPull(record)}`,
        `The pull is retried: fix the cause, or ${SKIP_IMAGES}.`,
      ];
    case 'none':
    case 'present':
      return [waits, `See condition PodImageReady of its pod, or ${SKIP_IMAGES}.`];
  }
};

/** How far images are that are pulled although nothing waits for them. */
const imagesWord = ({ record }: Subject): string => {
  switch (record.status.images.state) {
    case 'present':
      return ', has the images of the target';
    case 'requested':
    case 'pulling':
      return ', is pulling the images of the target';
    case 'failed':
      return `, cannot pull the images of the target (${causeOfPull(record)})`;
    case 'none':
    case 'wanted':
      return '';
  }
};

/** For each cause the state of the node, and what to do about it. */
const sentences: Record<Cause, (subject: Subject) => [what: string, remedy: string]> = {
  current: () => ['runs the target revision', ''],
  reserved: ({ record }) => [`has a slot of the budget, and ${aboutTo[record.update?.kind ?? 'delete']}`, ''],
  preparing: () => [
    'has a pod that is deleted once the label or finalizer of its preDelete hook is gone',
    'The controller behind the hook removes it when it has finished.',
  ],
  terminating: () => [
    'waits for its old pod to terminate',
    'If the pod never terminates, check its finalizers and its grace period.',
  ],
  'no-pod-yet': ({ policy }) => [
    `waits for the ${policy.words.podController} to create its new pod`,
    'If this lasts, see the Events of the DaemonSet: quota, admission or the controller may refuse it.',
  ],
  starting: ({ record, now }) => [
    `is starting the target revision${record.update ? ` (${ago(record.update.at, now)} since the update began)` : ''}${detailOf(record)}`,
    '',
  ],
  surging: ({ record }) => {
    const fresh = unplaced(record);
    if (!fresh) return ['keeps its old pod until the new one beside it is available', ''];
    return [
      `keeps its old pod, since the scheduler has not placed the new one beside it${fresh.detail && `: ${fresh.detail}`}`,
      'Two pods cannot use the same host port, or more resources than the node has: see the Events of the new pod.',
    ];
  },
  changing: ({ record, now }) => [
    `is restarting containers of its pod at the target revision${record.update ? ` (${ago(record.update.at, now)} since the update began)` : ''}${detailOf(record)}`,
    '',
  ],
  'ready-too-short': ({ policy }) => [
    `runs the target revision, but has not been Ready for minReadySeconds yet (${seconds(policy.minReadyMs)})`,
    '',
  ],
  'not-ready': ({ record }) => [`runs the target revision, but its pod is not ready${detailOf(record)}`, ''],
  available: (subject) =>
    held(
      subject,
      `runs an older revision${announcement(subject)}${imagesWord(subject)}`,
      'waits for a free slot of the budget',
      `Raise ${subject.policy.words.maxUnavailable} for more nodes at a time.`,
    ),
  'not-available': (subject) =>
    held(
      subject,
      `runs an older revision that is not available${announcement(subject)}`,
      'waits for a slot among the updates in flight',
    ),
  'broken-by-older-update': (subject) =>
    held(subject, 'was broken by an earlier update', 'will be repaired in its own slot'),
  'not-changed-in-time': (subject) =>
    held(
      subject,
      `has a pod that was updated in place and was not available within ${seconds(subject.policy.progressDeadlineMs)}${detailOf(subject.record)}`,
      'will get a new one in its own slot',
    ),
  'offline-current': ({ record, now }) => [
    `runs the target revision and has been offline for ${ago(record.since, now)}`,
    '',
  ],
  'offline-outdated': ({ record, policy, now }) =>
    policy.strategy === 'ota'
      ? [
          `has been offline for ${ago(record.since, now)}; whatever its owner decides there in the meantime takes effect once it is back`,
          'Bring the node back; it does not block the rollout in the meantime.',
        ]
      : [
          `has been offline for ${ago(record.since, now)}; it is skipped, and updated once it is back`,
          'Bring the node back; it does not block the rollout in the meantime.',
        ],
  suspect: ({ record, now }) => [
    `went offline ${ago(record.since, now)} ago, soon after its update, so the target revision is suspect`,
    'If the node returns and works, it is cleared.',
  ],
  lost: ({ record, now }) => [
    `went offline ${ago(record.since, now)} ago, soon after its update, and did not return in time: it counts as a failure`,
    brokenVersion,
  ],
  returned: ({ record, policy, now }) => [
    `has been back online for ${ago(record.since, now)}; the update waits until it has been Ready for ${seconds(policy.settleMs)}`,
    '',
  ],
  'duplicate-pods': ({ policy }) => [
    'has more than one pod of this DaemonSet, and is skipped until only one of them is left',
    `The ${policy.words.podController} deletes the others; if one never terminates, check its finalizers.`,
  ],
  refused: ({ record, now }) => [
    `could not be updated: ${record.refused?.message || 'no reason was given'}; tried again in ${seconds((record.refused?.until ?? now) - now)}`,
    'Fix what the API server complains about.',
  ],
  'node-selector': ({ policy }) => [
    `does not match ${policy.words.nodeSelector}`,
    'Change the selector, or label the node.',
  ],
  partition: (subject) => [
    `is kept on the older revision by ${subject.policy.words.partition}${imagesWord(subject)}`,
    'Lower the partition.',
  ],
  image: awaited,
  'crash-loop': ({ record }) => [`failed: its new pod keeps crashing${detailOf(record)}`, brokenVersion],
  'image-pull': ({ record }) => [`failed: the image of its new pod cannot be pulled${detailOf(record)}`, brokenVersion],
  deadline: ({ policy, record }) => [
    `failed: its new pod was not available within ${seconds(policy.progressDeadlineMs)}${detailOf(record)}`,
    brokenVersion,
  ],
  'came-back-old': () => [
    'failed: after the update its pod was recreated at an older revision',
    'Check whether another controller creates the pods; to try once more: kubectl edgeset resume.',
  ],
  'no-pod': () => [
    'has no pod, and no update deleted it',
    'See the Events of the DaemonSet: quota, admission or the scheduler may refuse it.',
  ],
};

/** Explains one record, given what holds the rollout as a whole (`decide(...).summary.hold`). */
export const explain = (record: NodeRecord, policy: Policy, hold: Hold | undefined, now: number): Explanation => {
  const { phase, cause, dueAt } = record.status;
  const lookedAtAgain = dueAt < Number.POSITIVE_INFINITY ? dueAt : undefined;
  if (phase === undefined || cause === undefined) {
    const what = record.node ? 'The DaemonSet does not run on this node.' : 'There is no Node of this name.';
    return { node: record.name, phase: 'not-eligible', cause, what, remedy: '', lookedAtAgain };
  }
  const [what, remedy] = sentences[cause]({ record, policy, hold, now });
  return { node: record.name, phase, cause, what: `${record.name} ${what}.`, remedy, lookedAtAgain };
};

/** Hazards of the policy itself, shown with every explanation of a rollout. */
export const policyWarnings = (policy: Policy, detectionLagMs: number): string[] =>
  // Without a budget there is no limit to exceed.
  !managerReplacesPods(policy) || policy.minReadyMs >= detectionLagMs
    ? []
    : [
        `minReadySeconds (${seconds(policy.minReadyMs)}) is shorter than the time that it takes to detect a lost node (${seconds(detectionLagMs)}): a version that kills nodes after its pod is ready may take down more of them than budget and threshold together allow.`,
      ];
