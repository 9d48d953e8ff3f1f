import type { NodeFacts } from '../facts/node.ts';
import type { PodFacts } from '../facts/pod.ts';
import type { TemplateOrigin } from '../facts/template-origin.ts';
import type { NodeRecord, RequestPriority } from '../node/record.ts';
import type { NodeUpdate } from '../node/update.ts';
import type { Learned, UpdateEvent } from '../node/update-events.ts';
import type { Approval } from '../plan/approval.ts';
import type { CalendarView } from '../plan/calendar-view.ts';
import type { StageView } from '../plan/membership.ts';
import type { Scopes } from '../plan/scopes.ts';
import type { StageState } from '../plan/stage-state.ts';
import type { Policy } from '../policy/policy.ts';
import type { DriftingImage } from './image-drift.ts';
import type { CandidateQueue } from './indexes.ts';
import type { RolloutState, TargetRevision } from './state.ts';
import type { Tally } from './tally.ts';
export interface LedgerOptions {
  /** Images are pulled ahead although only the manager's flag asks for it. Default false. */
  pullsByDefault?: boolean;
  /**
   * The process only displays the rollout. It sees everything once, so it takes the times that objects carry as they are.
   * Default false.
   */
  readOnly?: boolean;
  /** How far this process's clock is ahead of the API server's, ms: a plan goes by the server's. Default: not at all. */
  aheadMs?: () => number;
  /** An update of ours completed, this long after its slot was reserved. Must not throw. */
  onUpdateCompleted?: (durationMs: number) => void;
  /** The node became updated, or no longer is: others may wait for that. Must not change this ledger. */
  onOrderChanged?: (node: string) => void;
  /** A change has thrown, as its caller sees: what the ledger holds from here on is not known. */
  onFailed?: (error: unknown) => void;
}
/**
 * The state of one DaemonSet's rollout that decision, status, metrics and explanation read: a small record for each node,
 * indexed by its phase. An event changes one record.
 */
export interface Ledger {
  readonly tally: Readonly<Tally>;
  readonly state: Readonly<RolloutState>;
  readonly policy: Policy;
  /** When this process first saw the target, by its own clock. */
  readonly targetSeenAt: number;
  /** Mean time from a reservation until the node's new pod is available, ms; undefined before the first. */
  readonly meanUpdateMs: number | undefined;
  /** Grows with every change: of two equal ones, what was decided at the first still holds at the second. */
  readonly changes: number;
  readonly size: number;
  get: (node: string) => NodeRecord | undefined;
  records: () => MapIterator<NodeRecord>;
  /** Records with an update of ours that has not completed: the slots that a DaemonRollout holds. */
  withUpdate: () => ReadonlySet<NodeRecord>;
  /** Records whose update is not known to be carried out. */
  unconfirmed: () => ReadonlySet<NodeRecord>;
  /** Records whose failure the user forgave. */
  forgiven: () => ReadonlySet<NodeRecord>;
  /** Records that count as failures. */
  failing: () => ReadonlySet<NodeRecord>;
  /** Records by the state of images that are pulled ahead. */
  readonly images: {
    toRequest(priority: RequestPriority): Iterable<NodeRecord>;
    stale(): ReadonlySet<NodeRecord>;
    failing(): ReadonlySet<NodeRecord>;
  };
  /** Images of the target that are not the same on all nodes that run it. */
  imageDrift: () => readonly DriftingImage[];
  /** How many nodes may pull images at once. */
  imageParallelism: () => number;
  /** Records with an old and a new pod of which one may be deleted now. */
  withSurgedOutPod: () => ReadonlySet<NodeRecord>;
  /** Records whose pod's condition PodNeedUpgrade is not up to date. */
  unannounced: () => ReadonlySet<NodeRecord>;
  /** `hasRoom`: another node of these scopes may be updated; asked each time before one is yielded. Default: always. */
  candidates: (queue: CandidateQueue, hasRoom?: (scopes: Scopes) => boolean) => Iterable<NodeRecord>;
  /** The number of outdated candidates whose group or stage has as many nodes down as it may. */
  waitingForRoom: () => number;
  /** There are outdated candidates, and broken nodes of closed stages keep all of them waiting by their groups. */
  waitsForStranded(): boolean;
  /** The stages of the plan, as far as they hold nodes back. */
  readonly stages: StageView;
  /** The plan's windows and freezes. */
  readonly calendar: CalendarView;
  /** The breaker's threshold in force. */
  termsOfBreaker: () => Pick<Policy, 'failureThreshold'>;
  readonly approvals: readonly Approval[];
  /** When the earliest record changes merely because time passes; Infinity for never. */
  nextDueAt: () => number;
  /** The time by which windows, soaks and timeouts go, epoch ms: the API server's, as far as it is known. */
  planTime: (now: number) => number;
  /**
   * All nodes and pods have been listed, and `restore` has been called. From now on the ledger takes the time of each event
   * instead of the times that objects carry, and an absent object is gone.
   */
  finishInitialSync(): void;
  /**
   * A node was added or updated. `existing`: only its relation to the DaemonSet is new, not its readiness, so it need not
   * settle.
   */
  setNode(facts: NodeFacts, now: number, existing?: boolean): void;
  removeNode(name: string, now: number): void;
  /** A pod was added or updated. */
  setPod(facts: PodFacts, now: number): void;
  removePod(uid: string, now: number): void;
  /** What people decided about stages of any revision. */
  setApprovals(next: readonly Approval[]): void;
  /** Another DaemonSet's update comes first on this node; undefined: no longer. */
  setWaitsFor(node: string, daemonSet: string | undefined, now: number): void;
  /** Changes what is known of a stage that was opened; ignores any other. */
  patchStage(name: string, change: Partial<StageState>, now: number): void;
  setPolicy(next: Policy, now: number): void;
  /** `origin`: of the template, for the history. */
  setTarget(target: TargetRevision, now: number, origin?: TemplateOrigin): void;
  /** Images are pulled ahead although only the manager's flag asks for it: a display learns that from the pods. */
  setPullsByDefault(on: boolean, now: number): void;
  /** Changes the rollout's state, other than its target. */
  patchState(change: Partial<Omit<RolloutState, 'target' | 'rollout'>>, now: number): void;
  /**
   * Takes over what a DaemonRollout records: the state, the reserved slots, the forgiven nodes. It may be called before or
   * after the nodes and pods of the initial sync. Updates that this process knows keep their stage.
   */
  restore(
    saved: RolloutState,
    updates: ReadonlyMap<string, NodeUpdate>,
    forgiven: ReadonlySet<string>,
    now: number,
  ): void;
  /** Adds a reserved slot. Its reservation has been written to the DaemonRollout. */
  reserve: (node: string, update: NodeUpdate, now: number) => void;
  /** Something has happened to the node's update, if it has one. */
  noteEvent(node: string, event: UpdateEvent, now: number, learned?: Learned): void;
  /** The API server refused an update: the node waits 1 s, doubling up to 5 min, while other nodes continue. */
  refuse: (node: string, message: string, now: number) => void;
  /** The API server refuses to change the pod of the node's update in place: the update recreates it. */
  recreate(node: string, now: number): void;
  /** Records a request for images of a revision, which counts at once; undefined removes it. */
  noteImageRequest(node: string, revision: string | undefined, now: number): void;
  /** The user resumed the rollout: forgives every known failure. Returns the nodes. */
  forgive(now: number): string[];
  /** Reassesses every record whose time has come. */
  tick(now: number): void;
}
