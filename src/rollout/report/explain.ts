import type { Hold } from '../decision/hold.ts';
import { annotationWords, managerReplacesPods, type Policy, type PolicyWords } from '../policy/policy.ts';
import { annotation, formatPolicyError } from '../policy/values.ts';
import type { Cause, Phase } from '../record/phase.ts';
import { livePod } from '../record/pods.ts';
import type { NodeRecord } from '../record/record.ts';

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

const seconds = (ms: number): string => {
  const whole = Math.max(0, Math.round(ms / 1000));
  if (whole < 120) return `${whole} s`;
  return whole < 7200 ? `${Math.round(whole / 60)} min` : `${Math.round(whole / 3600)} h`;
};

const plural = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`;

/** What holds the whole rollout, and what to do about it. `words` are the policy's; the default is for annotations. */
export const explainHold = (hold: Hold, words: PolicyWords = annotationWords): { what: string; remedy: string } => {
  switch (hold.kind) {
    case 'unsynced':
      return {
        what: "The manager's view of the cluster is not complete, or not fresh enough to act on",
        remedy: 'This resolves by itself; if it lasts, see the log of the manager.',
      };
    case 'unobserved':
      return {
        what: `The ${words.podController} has not recorded the current template yet`,
        remedy: `If this lasts, check that ${words.podControllerProgram} is running.`,
      };
    case 'invalid':
      return {
        what: hold.what ?? 'The rollout policy is not valid',
        remedy: hold.errors.map(formatPolicyError).join(' '),
      };
    case 'deleted':
      return {
        what: 'The DaemonSet is being deleted',
        remedy: 'It is removed once no pod waits for its preDelete hook.',
      };
    case 'owner':
      return {
        what: `The owner of each device decides when its pod is replaced${hold.deadline ? `, until ${hold.deadline.at}: within ${seconds(hold.deadline.spreadMs)} after that, devices update by themselves` : ''}`,
        remedy: `Condition PodNeedUpgrade of the pods shows the offer. ${words.automate}`,
      };
    case 'manual':
      return {
        what: 'The manager updates nothing: the update strategy is OnDelete',
        remedy: `A deleted pod is recreated at the target revision. ${words.automate}`,
      };
    case 'paused':
      return { what: 'The rollout is paused', remedy: words.unpause };
    case 'frozen':
      return {
        what: 'The budget is zero, so nothing is updated',
        remedy: `Raise ${words.maxUnavailable}.`,
      };
    case 'halted':
      return hold.halt.reason === 'RolledBack'
        ? {
            what: 'This revision was rolled back before and has been set again, so it is not rolled out',
            remedy: 'Set another template, or continue with this one: kubectl edgeset resume.',
          }
        : {
            what: `The rollout is halted: the target revision failed on ${hold.halt.nodes.join(', ')}`,
            remedy: 'Set a template that works, or continue with this one: kubectl edgeset resume.',
          };
    case 'waiting': {
      const { failures, suspects, threshold } = hold.breaker;
      return {
        what: `No further node is updated while ${plural(failures, 'failure')} and ${plural(suspects, 'suspect')} reach the threshold of ${threshold}`,
        remedy: 'Suspects that return and work are cleared; others become failures when the suspect window ends.',
      };
    }
  }
};

interface Subject {
  record: NodeRecord;
  policy: Policy;
  hold: Hold | undefined;
  now: number;
}

/** A node that only waits for its turn: it is held by whatever holds the rollout as a whole, if anything does. */
const held = ({ record, hold, policy }: Subject, state: string, waitsFor: string, cure = ''): [string, string] => {
  if (!hold || (hold.kind === 'owner' && record.status.owner.approved)) return [`${state}, and ${waitsFor}`, cure];
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
  const limit = policy.predownload === 'required' ? '' : ', though not for long';
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
const sentences: Record<Cause, (telling: Subject) => [what: string, remedy: string]> = {
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
    `is starting the target revision in its present pod${record.update ? ` (${ago(record.update.at, now)} since the update began)` : ''}${detailOf(record)}`,
    '',
  ],
  'ready-too-short': ({ policy }) => [
    `runs the target revision, but has not been Ready for minReadySeconds yet (${seconds(policy.minReadyMs)})`,
    '',
  ],
  'not-ready': ({ record }) => [`runs the target revision, but its pod is not ready${detailOf(record)}`, ''],
  available: (telling) =>
    held(
      telling,
      `runs an older revision${announcement(telling)}${imagesWord(telling)}`,
      'waits for a free slot of the budget',
      `Raise ${telling.policy.words.maxUnavailable} for more nodes at a time.`,
    ),
  'not-available': (telling) =>
    held(
      telling,
      `runs an older revision that is not available${announcement(telling)}`,
      'waits for a slot among the updates in flight',
    ),
  'broken-by-older-update': (telling) =>
    held(telling, 'was broken by an earlier update', 'will be repaired in its own slot'),
  'not-changed-in-time': (telling) =>
    held(
      telling,
      `has a pod that was updated in place and was not available within ${seconds(telling.policy.progressDeadlineMs)}${detailOf(telling.record)}`,
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
  partition: (telling) => [
    `is kept on the older revision by ${telling.policy.words.partition}${imagesWord(telling)}`,
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
