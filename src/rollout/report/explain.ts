import type { Hold } from '../decision/hold.ts';
import { annotation } from '../policy/annotations.ts';
import { annotationWords, managerReplacesPods, type Policy, type PolicyWords } from '../policy/policy.ts';
import { formatPolicyError } from '../policy/values.ts';
import type { Cause, Phase } from '../record/phase.ts';
import { livePod } from '../record/pods.ts';
import { type NodeRecord } from '../record/record.ts';

/** Why one node is where it is, for a person. */
export interface Explanation {
  node: string;
  phase: Phase | 'not-eligible';
  cause: Cause | undefined;
  /** One sentence: what is the case. */
  what: string;
  /** One sentence: what would change it; empty when nothing has to. */
  remedy: string;
  /** When the node is looked at again without any event, epoch ms; undefined when only an event changes it. */
  lookedAtAgain: number | undefined;
}

const seconds = (ms: number): string => {
  const whole = Math.max(0, Math.round(ms / 1000));
  if (whole < 120) return `${whole} s`;
  return whole < 7200 ? `${Math.round(whole / 60)} min` : `${Math.round(whole / 3600)} h`;
};

const plural = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`;

/** What stops the whole rollout, and what would free it; `words` are the policy's, by default those of annotations. */
export const explainHold = (hold: Hold, words: PolicyWords = annotationWords): { what: string; remedy: string } => {
  switch (hold.kind) {
    case 'unsynced':
      return {
        what: 'What is known of the cluster is not complete, or not fresh enough to act on',
        remedy: 'It is brought up to date without your doing; if this lasts, see the log of the manager.',
      };
    case 'unobserved':
      return {
        what: `The ${words.podController} has not recorded the current template yet`,
        remedy: `If this lasts, see whether ${words.podControllerProgram} is running.`,
      };
    case 'invalid':
      return {
        what: hold.what ?? 'The rollout policy is not valid',
        remedy: hold.errors.map(formatPolicyError).join(' '),
      };
    case 'deleted':
      return {
        what: 'The DaemonSet is being deleted',
        remedy: 'It goes once no pod waits for its preDelete hook any more.',
      };
    case 'owner':
      return {
        what: `The owner of each device decides when its pod is replaced${hold.deadline ? `, until ${hold.deadline.at}: within ${seconds(hold.deadline.spreadMs)} from then on devices go on by themselves` : ''}`,
        remedy: `Pods tell it by condition PodNeedUpgrade. ${words.automate}`,
      };
    case 'manual':
      return {
        what: 'Nothing is updated from here: the update strategy is OnDelete',
        remedy: `A pod that is deleted comes back at the target revision. ${words.automate}`,
      };
    case 'paused':
      return { what: 'The rollout is paused', remedy: words.unpause };
    case 'frozen':
      return {
        what: 'The budget is zero, so nothing is touched',
        remedy: `Raise ${words.maxUnavailable}.`,
      };
    case 'halted':
      return hold.halt.reason === 'RolledBack'
        ? {
            what: 'This revision was rolled back before and has been set again, so it is not rolled out',
            remedy: 'Set another template, or go on with this one: kubectl edgeset resume.',
          }
        : {
            what: `The rollout is halted: the target revision failed on ${hold.halt.nodes.join(', ')}`,
            remedy: 'Set a template that works, or go on with this one: kubectl edgeset resume.',
          };
    case 'waiting': {
      const { failures, suspects, threshold } = hold.breaker;
      return {
        what: `No further node is touched while ${plural(failures, 'failure')} and ${plural(suspects, 'suspect')} reach the threshold of ${threshold}`,
        remedy: 'Suspects that come back and work are cleared; others become failures when the suspect window ends.',
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

/** A node that only waits for its turn: what holds the rollout as a whole holds it, if anything does. */
const held = ({ record, hold, policy }: Subject, state: string, waitsFor: string, cure = ''): [string, string] => {
  if (!hold || (hold.kind === 'owner' && record.status.owner.approved)) return [`${state}, and ${waitsFor}`, cure];
  const { what, remedy } = explainHold(hold, policy.words);
  return [`${state}. ${what}`, remedy];
};

/** With the strategy ota: whether the pod says already what its owner is to know. */
const announcement = ({ record, policy }: Subject): string => {
  if (policy.strategy !== 'ota') return '';
  if (record.status.owner.announcement) return ', and its pod does not say so yet';
  return record.status.owner.approved ? ', and its owner has agreed to the target' : '';
};

const ago = (time: number, now: number): string => seconds(now - time);

const detailOf = (record: NodeRecord): string => {
  const detail = livePod(record)?.facts.detail;
  return detail ? `: ${detail}` : '';
};

const causeOfPull = (record: NodeRecord): string => livePod(record)?.facts.images?.cause || 'nobody said why';

const brokenVersion = 'Set a template that works here, or go on once the cause is gone: kubectl edgeset resume.';

const aboutTo = {
  delete: 'its pod is about to be deleted',
  'in-place': 'its pod is about to be changed in place',
  surge: 'a new pod is about to be created beside the one that it has',
};

const unplaced = ({ pods }: NodeRecord) => pods.find(({ facts }) => facts.unbound && !facts.terminating)?.facts;

const UNCHAINED = `set ${annotation.predownload} to off to go on without`;

/** Nothing is done to the node's pod before the images of the target are there. */
const awaited = ({ record, policy }: Subject): [string, string] => {
  const least = policy.predownload === 'required' ? '' : ', though not for long';
  const alone = `is left alone until the images of the target revision are on it${least}`;
  switch (record.status.images.state) {
    case 'wanted':
      return [
        `${alone}, and waits for its turn to pull them`,
        `Raise ${annotation.predownloadParallelism} for more nodes at a time.`,
      ];
    case 'requested':
    case 'pulling':
      return [`${alone}: they are being pulled`, ''];
    case 'failed':
      return [
        `${alone}, which cannot be pulled: ${causeOfPull(record)}`,
        `It is tried again: mend what refuses, or ${UNCHAINED}.`,
      ];
    case 'none':
    case 'present':
      return [alone, `See condition PodImageReady of its pod, or ${UNCHAINED}.`];
  }
};

/** What is known of images that are pulled though nothing waits for them. */
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

/** One sentence a cause, with what would change it. */
const sentences: Record<Cause, (telling: Subject) => [what: string, remedy: string]> = {
  current: () => ['runs the target revision', ''],
  reserved: ({ record }) => [`has a slot of the budget, and ${aboutTo[record.update?.kind ?? 'delete']}`, ''],
  preparing: () => [
    'has a pod that is to be deleted once its label or finalizer of the preDelete hook is gone',
    'The controller that the hook is for removes it when it has done its work.',
  ],
  terminating: () => [
    'waits for its old pod to end',
    'A pod that never ends is held by its finalizers or its grace period.',
  ],
  'no-pod-yet': ({ policy }) => [
    `waits for the ${policy.words.podController} to create its new pod`,
    'If this lasts, see the Events of the DaemonSet: quota, admission or the controller may refuse it.',
  ],
  starting: ({ record, now }) => [
    `is starting the target revision${record.update ? ` (${ago(record.update.at, now)} since the act)` : ''}${detailOf(record)}`,
    '',
  ],
  surging: ({ record }) => {
    const fresh = unplaced(record);
    if (!fresh) return ['has its old pod until the new one beside it is available', ''];
    return [
      `has its old pod still, and the scheduler has not placed the new one beside it${fresh.detail && `: ${fresh.detail}`}`,
      'Two pods cannot have the same host port, nor more than the node has to give: see the Events of the new one.',
    ];
  },
  changing: ({ record, now }) => [
    `is starting the target revision in the pod that it has${record.update ? ` (${ago(record.update.at, now)} since the act)` : ''}${detailOf(record)}`,
    '',
  ],
  'ready-too-short': ({ policy }) => [
    `runs the target revision, but not yet for minReadySeconds (${seconds(policy.minReadyMs)})`,
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
      'waits for a slot among our own acts',
    ),
  'broken-by-older-update': (telling) =>
    held(telling, 'was broken by an earlier update', 'will be repaired in its own slot'),
  'not-changed-in-time': (telling) =>
    held(
      telling,
      `has a pod that was changed in place and was not available within ${seconds(telling.policy.progressDeadlineMs)}${detailOf(telling.record)}`,
      'will get a new one in its own slot',
    ),
  'offline-current': ({ record, now }) => [
    `runs the target revision and has been offline for ${ago(record.since, now)}`,
    '',
  ],
  'offline-outdated': ({ record, policy, now }) =>
    policy.strategy === 'ota'
      ? [
          `has been offline for ${ago(record.since, now)}; what its owner decides there meanwhile is carried out once it is back`,
          'Bring the node back: nobody waits for it meanwhile.',
        ]
      : [
          `has been offline for ${ago(record.since, now)}; it is skipped, and updated once it is back`,
          'Bring the node back: nobody waits for it meanwhile.',
        ],
  suspect: ({ record, now }) => [
    `went offline ${ago(record.since, now)} ago, soon after its update, so the target revision is under suspicion`,
    'If it comes back and works, it is cleared.',
  ],
  lost: ({ record, now }) => [
    `went offline ${ago(record.since, now)} ago, soon after its update, and did not come back in time: it counts as a failure`,
    brokenVersion,
  ],
  returned: ({ record, policy, now }) => [
    `is back online for ${ago(record.since, now)}, and is left in peace until it has been for ${seconds(policy.settleMs)}`,
    '',
  ],
  'duplicate-pods': ({ policy }) => [
    'has more than one pod of this DaemonSet, and is left alone until only one of them is there',
    `The ${policy.words.podController} removes what is too much; a pod that never ends is held by its finalizers.`,
  ],
  refused: ({ record, now }) => [
    `could not be acted on: ${record.refused?.message || 'no reason was given'}; tried again in ${seconds((record.refused?.until ?? now) - now)}`,
    'Mend what the API server complains of.',
  ],
  'node-selector': ({ policy }) => [
    `does not match ${policy.words.nodeSelector}`,
    'Change the selector, or label the node.',
  ],
  partition: (telling) => [
    `is left on the older revision by ${telling.policy.words.partition}${imagesWord(telling)}`,
    'Lower the partition.',
  ],
  image: awaited,
  'crash-loop': ({ record }) => [`failed: its new pod crashes again and again${detailOf(record)}`, brokenVersion],
  'image-pull': ({ record }) => [`failed: the image of its new pod cannot be pulled${detailOf(record)}`, brokenVersion],
  deadline: ({ policy, record }) => [
    `failed: its new pod was not available within ${seconds(policy.progressDeadlineMs)}${detailOf(record)}`,
    brokenVersion,
  ],
  'came-back-old': () => [
    'failed: after our act its pod was created at an older revision again',
    'See whether another controller creates the pods; kubectl edgeset resume tries once more.',
  ],
  'no-pod': () => [
    'has no pod, and we did not take it away',
    'See the Events of the DaemonSet: quota, admission or the scheduler may refuse it.',
  ],
};

/** Explains one record under what holds the rollout as a whole (`decide(...).summary.hold`). */
export const explain = (record: NodeRecord, policy: Policy, hold: Hold | undefined, now: number): Explanation => {
  const { phase, cause, dueAt } = record.status;
  const lookedAtAgain = dueAt < Number.POSITIVE_INFINITY ? dueAt : undefined;
  if (phase === undefined || cause === undefined) {
    const what = record.node
      ? 'The DaemonSet does not run on this node.'
      : 'There is no Node object of this name any more.';
    return { node: record.name, phase: 'not-eligible', cause, what, remedy: '', lookedAtAgain };
  }
  const [what, remedy] = sentences[cause]({ record, policy, hold, now });
  return { node: record.name, phase, cause, what: `${record.name} ${what}.`, remedy, lookedAtAgain };
};

/** The policy's own hazards, told with every explanation of a rollout. */
export const policyWarnings = (policy: Policy, detectionLagMs: number): string[] =>
  // Without a budget there is no bound that it could undo.
  !managerReplacesPods(policy) || policy.minReadyMs >= detectionLagMs
    ? []
    : [
        `minReadySeconds (${seconds(policy.minReadyMs)}) is shorter than the time in which the loss of a node is noticed (${seconds(detectionLagMs)}): a version that kills nodes after its pod is ready may take more of them than budget and threshold together.`,
      ];
