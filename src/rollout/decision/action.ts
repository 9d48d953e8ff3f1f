import type { UpdateKind } from '../../words/index.ts';
import type { PodFacts } from '../facts/pod.ts';
import type { Halt } from '../fleet/state.ts';
import type { StageAction } from '../plan/stage-state.ts';

/** Why an action is taken: a clause about its pod, its node, its stage or the rollout. */
export const reasonTexts = {
  outdated: 'its revision is outdated',
  down: 'it is not available',
  broken: 'an older update broke it',
  overdue: 'its in-place update timed out',
  'pod-changed': 'it has changed since its slot was reserved',
  'surged-out': 'the new pod replaces it',
  held: 'no update may start now',
  'other-target': 'the target has changed',
  'other-pod': 'its pod is gone',
  'no-room': 'its slot is no longer free',
  'not-eligible': 'it should not run the DaemonSet',
  'not-settled': 'it is offline or has just returned',
  'node-selector': 'the node selector excludes it',
  owner: 'its owner has not approved',
  plan: 'the rollout plan does not allow an update now',
  pods: 'it has no pod, or several',
  partition: 'the partition keeps it back',
  current: 'it runs the target',
  images: 'images of the target are missing',
  failures: 'failures reach the threshold',
  'check-failed': 'it has failed',
  'rolled-back': 'the rollout is halted',
  'images-differ': 'an image is not the same on all nodes',
  'images-agree': 'images no longer differ between nodes, or may differ',
  resumed: 'its value is new',
  'all-updated': 'every online node runs the target',
  'stage-due': 'the stages before it are passed',
  covered: 'enough of its nodes run the target',
  'not-covered': 'too few of its nodes run the target',
  gates: 'everything it waits for has happened',
  timeout: 'its timeout has ended',
  'by-hand': 'a person asks for it',
  empty: 'no node is in it',
  'stale-condition': 'they do not show the target',
  'images-wanted': 'its update is going to need them',
  'images-unwanted': 'no update needs them',
} as const;
export type Reason = keyof typeof reasonTexts;

/**
 * What to do now. Write a `reserve` to the DaemonRollout with a compare-and-swap before adding it to the ledger. `delete`,
 * `change` (in place) and `surge` carry out what was reserved: their first write to the pod has its UID and resourceVersion
 * as preconditions. `release` frees a slot; with `fence`, write to the pod first, since another process may still carry out
 * the update.
 */
export type Step =
  | { type: 'reserve'; node: string; pod: PodFacts; kind?: UpdateKind }
  | { type: 'delete'; node: string }
  | { type: 'update-in-place'; node: string }
  | { type: 'surge'; node: string }
  /** Delete the surged-out pod, in the slot of the update that created the other pod. */
  | { type: 'delete-old'; node: string; pod: PodFacts }
  | { type: 'release'; node: string; fence: boolean }
  | { type: 'halt'; halt: Halt }
  | { type: 'resume'; value: string }
  /** What the rollout was halted for is over. */
  | { type: 'end-halt' }
  | { type: 'rollback'; to: { name: string; hash: string } }
  | { type: 'complete' }
  /** A stage of the plan is opened, its soak begins or has ended, or it is passed: `change` is what is noted of it. */
  | StageAction
  /** Update condition PodNeedUpgrade of the pods in the ledger's `unannounced`. */
  | { type: 'announce'; pods: number }
  /** Request the images of the target on the node's pod. */
  | { type: 'request-images'; node: string }
  /** Withdraw the pod's request for images. */
  | { type: 'cancel-images'; node: string };

/** A step and why it is taken. `kubectl edgeset plan -o json` prints these objects, so the types are part of the interface. */
export type Action = Step & { because: Reason };

const promotionReasons = { Gates: 'gates', Timeout: 'timeout', ByHand: 'by-hand', Empty: 'empty' } as const;

export const stageReason = (action: StageAction): Reason => {
  switch (action.type) {
    case 'open-stage':
      return 'stage-due';
    case 'start-soak':
      return 'covered';
    case 'end-soak':
      return 'not-covered';
    case 'promote':
      return promotionReasons[action.how];
  }
};
