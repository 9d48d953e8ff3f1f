import { annotation, type Cause, type Phase } from '../../words/index.ts';
import type { Summary } from '../decision/decide.ts';
import { awaitsProof, type FirstWave } from '../decision/first-wave.ts';
import { type Hold, holdOfCalendar } from '../decision/hold.ts';
import type { StageStatus } from '../decision/stages.ts';
import { toTimestamp } from '../facts/metadata.ts';
import type { Ledger } from '../fleet/ledger-types.ts';
import { livePod } from '../node/pods.ts';
import type { NodeRecord } from '../node/record.ts';
import { calendarAt } from '../plan/calendar.ts';
import { scopeLimit } from '../plan/scopes.ts';
import { managerReplacesPods, type Policy, surges } from '../policy/policy.ts';
import { fullScopeOf } from './counts.ts';
import { explainHold, REMEDY_OF_FAILURE, seconds } from './explain-hold.ts';
import type { RemedyCommand } from './remedy-command.ts';

/** Why a node is in its phase, for people. */
export interface Explanation {
  node: string;
  phase: Phase | 'not-eligible';
  cause: Cause | undefined;
  /** The state of the node: one sentence, and another if it is exposed to the target in a closed stage. */
  what: string;
  /** One sentence: what to do about it, in words; empty if nothing. */
  remedy: string;
  /** What does that. */
  commands?: readonly RemedyCommand[];
  /** When the node is reassessed without any event, epoch ms; undefined if only an event changes it. */
  lookedAtAgain: number | undefined;
  /** The part of `what` that says for how long it has been offline, and since when, epoch ms; of a node that was seen before. */
  away?: { text: string; since: number };
}

interface Subject {
  record: NodeRecord;
  policy: Policy;
  hold: Hold | undefined;
  isHoldSaid: boolean;
  /** The open stage. */
  stand: StageStatus | undefined;
  refusedSurges: number;
  firstWave: FirstWave | undefined;
  now: number;
}

/** The state of a node, and what to do about it. */
type Sentences = readonly [what: string, remedy: string, commands?: readonly RemedyCommand[] | undefined];

/** A node that only waits for its turn: it is held by whatever holds the rollout as a whole, if anything does. */
const held = (
  { record, hold, isHoldSaid, policy }: Subject,
  state: string,
  waitsFor: string,
  advice = '',
  advised?: readonly RemedyCommand[],
): Sentences => {
  if (!hold || (hold.kind === 'owner' && record.status.owner.approved))
    return [`${state}, and ${waitsFor}`, advice, advised];
  if (isHoldSaid) return [`${state}, and is held as said above`, ''];
  const { what, remedy, commands } = explainHold(hold, policy.words);
  return [`${state}. ${what}`, remedy, commands];
};

/** With the strategy ota: whether the pod shows the offer yet, and whether its owner has approved. */
const announcement = ({ record, policy }: Subject): string => {
  if (policy.strategy !== 'ota') return '';
  if (record.status.owner.announcement) return ', and the condition of its pod is not up to date yet';
  return record.status.owner.approved ? ', and its owner has approved the target' : '';
};

const ago = (time: number, now: number): string => seconds(now - time);

/** Of an offline node: `has been offline for 62 min (last seen at 2030-01-01T00:00:00Z)`. */
const away = ({ since }: NodeRecord, now: number): string =>
  since === 0 ? 'has never reported' : `has been offline for ${ago(since, now)} (last seen at ${toTimestamp(since)})`;

const wentOffline = ({ since }: NodeRecord, now: number): string => `went offline ${ago(since, now)} ago`;

/** What the sentence of a cause says of the time for which a node has been offline. */
const awayTexts: Partial<Record<Cause, (record: NodeRecord, now: number) => string>> = {
  'offline-current': away,
  'offline-outdated': away,
  suspect: wentOffline,
  lost: wentOffline,
};

const detailOf = (record: NodeRecord): string => {
  const detail = livePod(record)?.facts.detail;
  return detail ? `: ${detail}` : '';
};

const causeOfPull = (record: NodeRecord): string => livePod(record)?.facts.images?.cause || 'no cause was reported';

/** The version is to blame, as far as anybody can tell. */
const brokenVersion = (what: string): Sentences => [what, REMEDY_OF_FAILURE.remedy, REMEDY_OF_FAILURE.commands];

const aboutTo = {
  delete: 'its pod is about to be deleted',
  'in-place': 'its pod is about to be updated in place',
  surge: 'a new pod is about to be created beside its old one',
};

const unplaced = ({ pods }: NodeRecord) => pods.find(({ facts }) => facts.unbound && !facts.terminating)?.facts;

/** How many new pods the scheduler has refused to place beside their old ones. They keep their slots. */
export const refusedSurges = ({ policy, records }: Pick<Ledger, 'policy' | 'records'>): number => {
  if (!surges(policy)) return 0;
  return records().reduce((sum, record) => {
    const isRefused = record.status.cause === 'surging' && (unplaced(record)?.detail ?? '') !== '';
    return isRefused ? sum + 1 : sum;
  }, 0);
};

const WITHOUT_SURGE = 'set maxUnavailable in place of maxSurge: then each old pod is deleted first';

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
      return ', is pulling the images of the target';
    case 'failed':
      return `, cannot pull the images of the target (${causeOfPull(record)})`;
    case 'none':
    case 'wanted':
      return '';
  }
};

/** What a node waits for that only waits for its turn, and how that becomes shorter. */
const turnOf = ({ firstWave, refusedSurges: refused, policy }: Subject): Sentences => {
  if (awaitsProof(firstWave))
    return [
      `waits until the target is available on more nodes: ${firstWave.onTrial} are trying it, ${firstWave.proven} run it`,
      `More follow with each one that becomes available; raise ${annotation.firstWave} for more at once.`,
    ];
  const waits = 'waits for a free slot of the budget';
  if (refused > 0)
    return [
      waits,
      `${refused} new pod${refused === 1 ? ' has' : 's have'} no place beside the old one: ${WITHOUT_SURGE}.`,
    ];
  // The command would end the surge.
  if (surges(policy)) return [waits, `Raise ${policy.words.maxUnavailable} for more nodes at a time.`];
  return [
    waits,
    'Raise the budget for more nodes at a time.',
    [{ verb: 'set', flag: 'max-unavailable', value: 'VALUE' }],
  ];
};

/** What the next pod is of on a node that is kept from the target. */
const nextPod = ({ status: { heldRevision } }: NodeRecord): string =>
  heldRevision === undefined
    ? ''
    : `; its next one is of revision ${heldRevision}, which was last complete, because the node is kept from the target`;

/** For each cause the state of the node, and what to do about it. */
const sentences: Record<Cause, (subject: Subject) => Sentences> = {
  current: () => ['runs the target revision', ''],
  reserved: ({ record }) => [`has a slot of the budget, and ${aboutTo[record.update?.kind ?? 'delete']}`, ''],
  preparing: () => [
    'has a pod that is deleted once the label or finalizer of its preDelete hook is gone',
    'The controller behind the hook removes it when it has finished.',
  ],
  terminating: ({ record }) => [
    `waits for its old pod to terminate${nextPod(record)}`,
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
      `Two pods cannot use the same host port, or more resources than the node has: see the Events of the new pod. If they do not fit on a node, ${WITHOUT_SURGE}.`,
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
    held(subject, `runs an older revision${announcement(subject)}${imagesWord(subject)}`, ...turnOf(subject)),
  group: (subject) => {
    const full = fullScopeOf(subject.record);
    return held(
      subject,
      `runs an older revision${imagesWord(subject)}`,
      `waits while ${full?.occupied} of ${full?.online} online nodes of ${full?.name} are down or being updated`,
      `The rollout plan allows ${full ? scopeLimit(full) : 0} at a time.`,
    );
  },
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
  'offline-current': ({ record, now }) => [`runs the target revision and ${away(record, now)}`, ''],
  'offline-outdated': ({ record, policy, now }) =>
    policy.strategy === 'ota'
      ? [
          `${away(record, now)}; whatever its owner decides there in the meantime takes effect once it is back`,
          'Bring the node back; it does not block the rollout in the meantime.',
        ]
      : [
          `${away(record, now)}; it is skipped, and updated once it is back`,
          'Bring the node back; it does not block the rollout in the meantime.',
        ],
  suspect: ({ record, now }) => [
    `${wentOffline(record, now)}, soon after its update, so the target revision is suspect`,
    'If the node returns and works, it is cleared.',
  ],
  lost: ({ record, now }) =>
    brokenVersion(
      `${wentOffline(record, now)}, soon after its update, and did not return in time: it counts as a failure`,
    ),
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
    'Lower the partition to update more nodes.',
    [{ verb: 'set', flag: 'partition', value: 'VALUE' }],
  ],
  stage: ({ record, policy, stand }) => [
    `is in stage ${policy.plan?.stages[record.stage]?.name ?? '?'} of the rollout plan, which is not open yet`,
    stand ? `Stage ${stand.name} comes first: it ${stand.message}.` : '',
    stand?.wait === 'Approval' ? [{ verb: 'approve', stage: stand.name }] : undefined,
  ],
  after: ({ record }) => [
    `waits for DaemonSet ${record.waitsFor ?? '?'}, whose update comes first`,
    'If that lasts, see the rollout of that DaemonSet, or change after in the rollout plan.',
  ],
  busy: ({ record: { node } }) => [
    `runs an older revision, and the rollout plan skips it while it is busy (skipNodes): it has ${node?.busy ?? 'what the plan names'}`,
    'It follows once nothing that skipNodes names applies to it.',
  ],
  window: ({ record, hold, policy, now }) => {
    // Windows may go by the time of the node.
    const state = policy.plan && calendarAt(policy.plan.calendar, record.node?.timeZone, now);
    const own = (state && holdOfCalendar(state)) ?? (hold?.kind === 'window' ? hold : undefined);
    if (!own) return ['runs an older revision, and a window of the rollout plan opens', ''];
    const { what, remedy } = explainHold(own, policy.words);
    return [`runs an older revision. ${what}`, remedy];
  },
  image: awaited,
  'crash-loop': ({ record }) => brokenVersion(`failed: its new pod keeps crashing${detailOf(record)}`),
  'image-pull': ({ record }) => brokenVersion(`failed: the image of its new pod cannot be pulled${detailOf(record)}`),
  deadline: ({ record, policy }) =>
    brokenVersion(
      `failed: its new pod was not available within ${seconds(policy.progressDeadlineMs)}${detailOf(record)}`,
    ),
  'came-back-old': () => [
    'failed: after the update its pod was recreated at an older revision',
    'Check whether another controller creates the pods, then try once more.',
    [{ verb: 'resume' }],
  ],
  'no-pod': ({ record }) => [
    `has no pod, and no update deleted it${nextPod(record)}`,
    'See the Events of the DaemonSet: quota, admission or the scheduler may refuse it.',
  ],
};

const BACK_OR_WAIT =
  'A rollback takes the target from it. If it works there, the node is updated once its stage opens.';

/** Of a node that has a pod of the target although its stage is closed: a sentence of its own. */
const exposure = ({ status }: NodeRecord, { plan }: Policy): string =>
  status.exposed
    ? ` Its stage ${plan?.stages[status.stage]?.name ?? '?'} is closed, but its pod was recreated, or the node joined, and such pods are of the newest revision.`
    : '';

/** What explains a node besides its own record: of `decide(...).summary`, and what `refusedSurges` counts. */
export type ExplainContext = Partial<Pick<Summary, 'hold' | 'stage' | 'firstWave'>> & {
  refusedSurges?: number;
  /** The reader was told what holds the rollout, and what to do about it. */
  isHoldSaid?: boolean;
};

/** Explains one record, given what holds the rollout as a whole and the open stage. */
export const explain = (
  record: NodeRecord,
  policy: Policy,
  { hold, isHoldSaid = false, stage: stand, firstWave, refusedSurges: refused = 0 }: ExplainContext,
  now: number,
): Explanation => {
  const { phase, cause, dueAt } = record.status;
  const lookedAtAgain = dueAt < Number.POSITIVE_INFINITY ? dueAt : undefined;
  if (phase === undefined || cause === undefined) {
    const what = record.node ? 'The DaemonSet does not run on this node.' : 'There is no Node of this name.';
    return { node: record.name, phase: 'not-eligible', cause, what, remedy: '', lookedAtAgain };
  }
  // What waits for its group is outdated in the ledger, since that changes with every update.
  if (!hold && fullScopeOf(record)) return { ...explainAs('group'), phase: 'held', cause: 'group' };
  return explainAs(cause);

  function explainAs(why: Cause): Explanation {
    const [what, remedy, commands] = sentences[why]({
      record,
      policy,
      hold,
      isHoldSaid,
      stand,
      firstWave,
      refusedSurges: refused,
      now,
    });
    const text = awayTexts[why]?.(record, now);
    return {
      node: record.name,
      phase: phase ?? 'not-eligible',
      cause,
      what: `${record.name} ${what}.${exposure(record, policy)}`,
      remedy: remedy === '' && record.status.exposed ? BACK_OR_WAIT : remedy,
      ...(commands && { commands }),
      lookedAtAgain,
      ...(text !== undefined && record.since > 0 && { away: { text, since: record.since } }),
    };
  }
};

/** How long a cluster takes by default to mark a lost node, ms: kube-controller-manager's --node-monitor-grace-period. */
export const DETECTION_LAG_MS = 50_000;

/** Hazards of the policy for updates that are still to come. Without a budget there is no limit to exceed. */
export const policyWarnings = (policy: Policy): string[] =>
  !managerReplacesPods(policy) || policy.minReadyMs >= DETECTION_LAG_MS
    ? []
    : [
        `minReadySeconds (${seconds(policy.minReadyMs)}) is shorter than the time in which the cluster notices a lost node (${seconds(DETECTION_LAG_MS)} by default): a version that takes a node offline after its pod is ready may do so on more nodes than the budget and the threshold allow.`,
      ];
