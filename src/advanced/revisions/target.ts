import { newestRevision, type ReconcilerContext, type RecordedRevision, type Target } from '../../controller/index.ts';
import { isKubeError } from '../../kube/index.ts';
import { formatPolicyError, type PolicyError, type TargetRevision } from '../../rollout/index.ts';
import type { AdvancedView } from '../advanced-view.ts';
import {
  CONFLICT,
  type Conflict,
  kruiseConflict,
  type LeaseWatch,
  nativeConflict,
  unreadableLease,
} from '../conflicting-controllers.ts';
import { planInPlace } from '../inplace/plan.ts';
import type { CachedPod } from '../podcontrol/cached-pod.ts';
import { type DefaultedTemplate, defaultedTemplate } from './defaulted-template.ts';
import { type CurrentRevision, createHistorySync } from './sync-history.ts';

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
  ReconcilerContext<AdvancedView, CachedPod>,
  'client' | 'env' | 'pods' | 'ledger' | 'revisions' | 'events'
> & { lease: LeaseWatch };

/** Finds the revision that a DaemonSet asks for; reads and writes only when something new is asked, or ended. */
export const createTargetFinder = ({ client, env, pods, ledger, revisions, events, lease }: Needs) => {
  const { clock } = env;
  const history = createHistorySync(client);
  let proof: { generation: number; at: number; result: DefaultedTemplate } | undefined;
  let known:
    | { generation: number; finishedAt: number | undefined; watched: boolean; revision: CurrentRevision }
    | undefined;
  /** What was on record last, whatever is asked now. */
  let last: CurrentRevision | undefined;
  let obstacle: Conflict | undefined;
  /** Of which generation native DaemonSets were looked for last, and when. */
  let looked: { generation: number; at: number } | undefined;
  let blocked: Blocked | undefined;

  const held = (what: string, reason: string, error: PolicyError, recheckAt: number): Target => {
    const message = formatPolicyError(error);
    if (blocked?.message !== message) events.warnOnce(message, reason, 'Validate', message);
    blocked = { reason, message };
    return { kind: 'held', hold: { kind: 'invalid', errors: [error], what }, recheckAt };
  };

  const findKruise = async (signal: AbortSignal): Promise<Conflict | undefined> => {
    try {
      const holder = await lease(client, clock, signal);
      return holder === undefined ? undefined : kruiseConflict(holder);
    } catch (error) {
      if (isKubeError(error, 'Forbidden')) return unreadableLease(error.message);
      throw error;
    }
  };

  const findObstacle = async (view: AdvancedView, signal: AbortSignal): Promise<Conflict | undefined> => {
    const kruise = await findKruise(signal);
    if (kruise) return kruise;
    const now = clock.now();
    const isFresh = looked?.generation === view.generation && now >= looked.at && now - looked.at < NATIVES_LOOK_MS;
    if (isFresh && obstacle === undefined) return undefined;
    const native = await nativeConflict(client, view, signal);
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
  const live = (): ReadonlySet<string> => {
    const hashes = new Set<string>();
    for (const { ownership, facts } of pods.values()) if (ownership !== 'native') hashes.add(facts.revision);
    const { lastComplete } = ledger.state;
    if (lastComplete) hashes.add(lastComplete.hash);
    return hashes;
  };

  /** No pod carries a revision any more that was kept for its pods alone. */
  const isOver = (): boolean => {
    const overLimit = known?.revision.overLimit;
    if (!overLimit || overLimit.size === 0) return false;
    const still = live();
    return [...overLimit].some((hash) => !still.has(hash));
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
      if (obstacle) return held(CONFLICT, obstacle.reason, obstacle.error, clock.now() + OBSTACLE_LOOK_MS);
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
        const recorded = await history.sync(view, proved.template, live(), signal);
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
    known: (view: AdvancedView): CurrentRevision | undefined =>
      known?.generation === view.generation ? known.revision : undefined,
    /**
     * By what pods that are out of service are brought back, also while what is asked now cannot be had; undefined while
     * somebody else may be at work on them.
     */
    last: (): CurrentRevision | undefined => (obstacle ? undefined : last),
    /** Why nothing is created; undefined when nothing is in the way. */
    blocked: (): Blocked | undefined => blocked,
    /** A pod of a native DaemonSet was seen: look whether it is still there. */
    suspectNative(): void {
      looked = undefined;
    },
  };
};
export type TargetFinder = ReturnType<typeof createTargetFinder>;

/**
 * The revision that a DaemonSet asks for, by what its leader has recorded: the newest, once the status speaks of the
 * present generation. Templates are compared as they are recorded, with all defaults.
 */
export const readTarget = (
  { status, generation, policy }: Pick<AdvancedView, 'status' | 'generation' | 'policy'>,
  owned: readonly RecordedRevision[],
): TargetRevision | undefined => {
  if ((status.observedGeneration ?? 0) < generation) return undefined;
  const newest = newestRevision(owned);
  if (!newest || !policy.policy.inPlace) return newest;
  const wanted = owned.find(({ name }) => name === newest.name)?.template;
  const from = owned.filter(
    ({ name, template }) =>
      name !== newest.name && template && wanted && planInPlace(template, wanted).kind === 'in-place',
  );
  return { ...newest, inPlaceFrom: new Set(from.map(({ hash }) => hash)) };
};
