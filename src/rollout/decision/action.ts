import type { UpdateKind } from '../../words/index.ts';
import type { PodFacts } from '../facts/pod.ts';
import type { Halt } from '../fleet/state.ts';
import type { StageAction } from '../plan/stage-state.ts';

/**
 * What to do now. Write a `reserve` to the DaemonRollout with a compare-and-swap before adding it to the ledger. `delete`,
 * `change` (in place) and `surge` carry out what was reserved: their first write to the pod has its UID and resourceVersion
 * as preconditions. `release` frees a slot; with `fence`, write to the pod first, since another process may still carry out
 * the update. `kubectl edgeset plan -o json` prints these objects, so the types are part of the interface.
 */
export type Action =
  | { type: 'reserve'; node: string; pod: PodFacts; kind?: UpdateKind }
  | { type: 'delete'; node: string }
  | { type: 'change'; node: string }
  | { type: 'surge'; node: string }
  /** Delete the surged-out pod, in the slot of the update that created the other pod. */
  | { type: 'retire'; node: string; pod: PodFacts }
  | { type: 'release'; node: string; fence: boolean }
  | { type: 'halt'; halt: Halt }
  | { type: 'resume'; value: string }
  | { type: 'rollback'; to: { name: string; hash: string } }
  | { type: 'complete' }
  /** A stage of the plan is opened, its soak begins or is over, or it is passed: `change` is what is noted of it. */
  | StageAction
  /** Update condition PodNeedUpgrade of the pods in the ledger's `unannounced`. */
  | { type: 'announce'; pods: number }
  /** Request the images of the target on the node's pod. */
  | { type: 'ask'; node: string }
  /** Withdraw the pod's request for images. */
  | { type: 'unask'; node: string };
