import type { ReconcilerContext, Target } from '../../controller/index.ts';
import { isKubeError } from '../../kube/index.ts';
import { formatPolicyError, type PolicyError } from '../../rollout/index.ts';
import type { AdvancedView } from '../advanced-view.ts';
import { type DefaultedTemplate, defaultedTemplate } from '../revisions/index.ts';
import type { KeptPod } from './kept-pod.ts';
import {
  hiddenLease,
  IN_THE_WAY,
  kruiseObstacle,
  type LeaseWatch,
  nativeObstacle,
  type Obstacle,
} from './obstacles.ts';
import { createRevisionKeeper, type KnownRevision } from './revision-keeper.ts';

/** While somebody is in the way, how often to look whether they still are. */
const OBSTACLE_LOOK_MS = 5_000;
/** Native DaemonSets are read only when there is something to do, and not more often. */
const NATIVES_LOOK_MS = 15_000;
/** What refuses a template, such as an admission policy, may change. */
const REFUSED_LOOK_MS = 300_000;
const AGAIN_MS = 250;

/** Why no pod may be created, for conditions. */
export interface Blocked {
  reason: string;
  message: string;
}

const NOT_VALID = 'The DaemonSet is not valid';

const emptySelector: PolicyError = {
  field: 'spec.selector',
  value: '{}',
  problem: 'is empty and would take every pod of the namespace',
  cure: 'delete the DaemonSet with --cascade=orphan and make it anew with a selector that matches its template',
};

type Needs = Pick<
  ReconcilerContext<AdvancedView, KeptPod>,
  'client' | 'env' | 'pods' | 'ledger' | 'revisions' | 'events'
> & { lease: LeaseWatch };

/** Finds the revision that a DaemonSet asks for; reads and writes only when something new is asked, or ended. */
export const createTargetFinder = ({ client, env, pods, ledger, revisions, events, lease }: Needs) => {
  const { clock } = env;
  const keeper = createRevisionKeeper(client);
  let proof: { generation: number; at: number; result: DefaultedTemplate } | undefined;
  let known:
    | { generation: number; finishedAt: number | undefined; watched: boolean; revision: KnownRevision }
    | undefined;
  /** What was on record last, whatever is asked now. */
  let last: KnownRevision | undefined;
  let obstacle: Obstacle | undefined;
  /** Of which generation native DaemonSets were looked for last, and when. */
  let looked: { generation: number; at: number } | undefined;
  let blocked: Blocked | undefined;

  const held = (what: string, reason: string, error: PolicyError, recheckAt: number): Target => {
    const message = formatPolicyError(error);
    if (blocked?.message !== message) events.once(message, reason, 'Validate', message);
    blocked = { reason, message };
    return { kind: 'held', hold: { kind: 'invalid', errors: [error], what }, recheckAt };
  };

  const findKruise = async (signal: AbortSignal): Promise<Obstacle | undefined> => {
    try {
      const holder = await lease(client, clock, signal);
      return holder === undefined ? undefined : kruiseObstacle(holder);
    } catch (error) {
      if (isKubeError(error, 'Forbidden')) return hiddenLease(error.message);
      throw error;
    }
  };

  const findObstacle = async (view: AdvancedView, signal: AbortSignal): Promise<Obstacle | undefined> => {
    const kruise = await findKruise(signal);
    if (kruise) return kruise;
    const now = clock.now();
    const isFresh = looked?.generation === view.generation && now >= looked.at && now - looked.at < NATIVES_LOOK_MS;
    if (isFresh && obstacle === undefined) return undefined;
    const native = await nativeObstacle(client, view, signal);
    looked = { generation: view.generation, at: now };
    return native;
  };

  const prove = async (view: AdvancedView, signal: AbortSignal): Promise<DefaultedTemplate> => {
    const now = clock.now();
    const fresh = proof?.generation === view.generation && (proof.result.ok || now - proof.at < REFUSED_LOOK_MS);
    if (proof && fresh) return proof.result;
    const result = await defaultedTemplate(client, view.namespace, view.template, { signal });
    proof = { generation: view.generation, at: now, result };
    return result;
  };

  /** Hashes that must stay on record: live pods carry them, or a rollback would put them back. */
  const carried = (): ReadonlySet<string> => {
    const hashes = new Set<string>();
    for (const { standing, facts } of pods.values()) if (standing !== 'native') hashes.add(facts.revision);
    const { lastComplete } = ledger.state;
    if (lastComplete) hashes.add(lastComplete.hash);
    return hashes;
  };

  /** No pod carries a revision any more that was kept for its pods alone. */
  const isOver = (): boolean => {
    const outstay = known?.revision.outstay;
    if (!outstay || outstay.size === 0) return false;
    const still = carried();
    return [...outstay].some((hash) => !still.has(hash));
  };

  /** It was there and is no more: deleted by hand. */
  const isLost = (): boolean => {
    if (!known) return false;
    const { name } = known.revision.target;
    const present = revisions().some((revision) => revision.name === name);
    if (present) known.watched = true;
    return known.watched && !present;
  };

  /** A leader that slept has put its own on record late: what is asked for is to be the newest. */
  const isOvertaken = (): boolean => {
    const number = known?.revision.target.number;
    return number !== undefined && revisions().some((revision) => revision.number > number);
  };

  return {
    async find(view: AdvancedView, signal: AbortSignal): Promise<Target> {
      if (view.selectsAll) return held(NOT_VALID, 'SelectingAll', emptySelector, Number.POSITIVE_INFINITY);
      obstacle = await (view.deleted ? findKruise(signal) : findObstacle(view, signal));
      if (!obstacle && view.deleted) {
        blocked = undefined;
        return { kind: 'held', hold: { kind: 'deleted' }, recheckAt: Number.POSITIVE_INFINITY };
      }
      if (obstacle) return held(IN_THE_WAY, obstacle.reason, obstacle.error, clock.now() + OBSTACLE_LOOK_MS);
      const proved = await prove(view, signal);
      if (!proved.ok) {
        known = undefined;
        const error = {
          field: 'spec.template',
          value: view.name,
          problem: `is refused by the API server: ${proved.message}`,
          cure: 'set it to a template that is valid for pods',
        };
        return held(NOT_VALID, 'InvalidTemplate', error, clock.now() + REFUSED_LOOK_MS);
      }
      blocked = undefined;
      const { finishedAt } = ledger.state;
      if (
        known?.generation !== view.generation ||
        known.finishedAt !== finishedAt ||
        isLost() ||
        isOvertaken() ||
        isOver()
      ) {
        const recorded = await keeper.record(view, proved.template, carried(), signal);
        if (recorded.kind === 'again')
          return { kind: 'held', hold: { kind: 'unobserved' }, recheckAt: clock.now() + AGAIN_MS };
        known = { generation: view.generation, finishedAt, watched: false, revision: recorded.revision };
        last = recorded.revision;
      }
      const { target, plans } = known.revision;
      const inPlaceFrom = view.policy.policy.inPlace ? new Set(plans.keys()) : undefined;
      return { kind: 'known', revision: { ...target, ...(inPlaceFrom && { inPlaceFrom }) } };
    },
    /** What the DaemonSet asks for as it is now; undefined while that is not on record. */
    known: (view: AdvancedView): KnownRevision | undefined =>
      known?.generation === view.generation ? known.revision : undefined,
    /**
     * By what pods that are out of service are brought back, also while what is asked now cannot be had; undefined while
     * somebody else may be at work on them.
     */
    last: (): KnownRevision | undefined => (obstacle ? undefined : last),
    /** Why nothing is created; undefined when nothing is in the way. */
    blocked: (): Blocked | undefined => blocked,
    /** A pod of a native DaemonSet was seen: look whether it is still there. */
    suspectNative(): void {
      looked = undefined;
    },
  };
};
export type TargetFinder = ReturnType<typeof createTargetFinder>;
