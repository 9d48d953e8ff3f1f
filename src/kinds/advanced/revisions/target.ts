import type { PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import {
  newestRevision,
  type ReconcilerContext,
  type RecordedRevision,
  type Target,
} from '../../../controller/index.ts';
import { controllerRevisions, ifFound } from '../../../kube/index.ts';
import {
  formatPolicyError,
  type PolicyError,
  recordedTemplate,
  type TargetRevision,
  templateDigest,
} from '../../../rollout/index.ts';
import type { AdvancedView } from '../advanced-view.ts';
import {
  CONFLICT,
  type Conflict,
  findKruiseConflict,
  findNativeConflict,
  type LeaseWatch,
  previousOwnerConflict,
} from '../conflicting-controllers.ts';
import { planInPlace } from '../inplace/plan.ts';
import type { NativeDaemonSets } from '../native-daemonsets.ts';
import type { CachedPod } from '../podcontrol/cached-pod.ts';
import type { ResizeReview } from '../podcontrol/resize-review.ts';
import type { PreviousOwners } from '../previous-owners.ts';
import { type DefaultedTemplate, defaultedTemplate } from './defaulted-template.ts';
import { type CurrentRevision, createHistorySync } from './sync-history.ts';

/** How often to recheck a conflict. */
const CONFLICT_RECHECK_MS = 5_000;
/** An admission policy that refuses the template may change. */
const INVALID_TEMPLATE_RECHECK_MS = 300_000;
const RETRY_MS = 250;

/** Why no pod may be created, for conditions. */
export interface Blocked {
  reason: string;
  message: string;
}

const INVALID = 'The DaemonSet is not valid';
const INVALID_TEMPLATE = 'InvalidTemplate';

const invalidTemplate = (name: string, message: string): PolicyError => ({
  field: 'spec.template',
  value: name,
  problem: `is refused by the API server: ${message}`,
  remedy: 'set a template that is valid for pods',
});

/** The status says of this generation that its template is not valid. */
const isReported = ({ status, generation }: AdvancedView): boolean =>
  status.conditions?.some(
    ({ type, status: is, reason, observedGeneration }) =>
      type === 'Stalled' && is === 'True' && reason === INVALID_TEMPLATE && observedGeneration === generation,
  ) ?? false;

type TargetContext = Pick<
  ReconcilerContext<AdvancedView, CachedPod>,
  'client' | 'env' | 'pods' | 'ledger' | 'revisions' | 'events' | 'accept'
> & {
  lease: LeaseWatch;
  natives: Pick<NativeDaemonSets, 'withSelector'>;
  review: Pick<ResizeReview, 'hold'>;
  previousOwners: Pick<PreviousOwners, 'ofPods' | 'has'>;
};

export interface TargetFinder {
  find(view: AdvancedView, signal: AbortSignal): Promise<Target>;
  /** The current revision of this generation; undefined while it is not recorded. */
  current: (view: AdvancedView) => CurrentRevision | undefined;
  /** The last recorded revision, to complete in-place updates even if the current template is invalid. */
  lastRecorded: () => CurrentRevision | undefined;
  /** Pods may be returned to service while none may be created: no other controller may manage them. */
  mayReturnPods: () => boolean;
  /** Why no pod may be created; undefined if pods may be. */
  blocked: () => Blocked | undefined;
}

/** Finds the current revision of a DaemonSet. Reads and writes only when something has changed. */
export const createTargetFinder = (context: TargetContext): TargetFinder => {
  const { client, env, pods, ledger, revisions, events, lease, natives, previousOwners, review } = context;
  const { clock } = env;
  const history = createHistorySync(context, previousOwners);
  let validated: { generation: number; at: number; result: DefaultedTemplate } | undefined;
  let recorded:
    | { generation: number; finishedAt: number | undefined; observed: boolean; revision: CurrentRevision }
    | undefined;
  /** The last recorded revision, also of an earlier generation. */
  let lastRecorded: CurrentRevision | undefined;
  let conflict: Conflict | undefined;
  let blocked: Blocked | undefined;

  const holdForConflict = (found: Conflict): Target => {
    conflict = found;
    return hold(CONFLICT, found.reason, found.error, clock.now() + CONFLICT_RECHECK_MS);
  };

  const hold = (what: string, reason: string, error: PolicyError, recheckAt: number): Target => {
    const message = formatPolicyError(error);
    if (blocked?.message !== message) events.warnOnce(message, reason, 'Validate', message);
    blocked = { reason, message };
    return { kind: 'held', hold: { kind: 'invalid', errors: [error], what }, recheckAt };
  };

  const findConflict = async (view: AdvancedView, signal: AbortSignal): Promise<Conflict | undefined> => {
    const kruise = await findKruiseConflict(lease, client, clock, signal);
    if (kruise || view.deleted) return kruise;
    const native = findNativeConflict(natives, view);
    if (native) return native;
    const previous = await previousOwners.ofPods(view.namespace, signal);
    return previous && previousOwnerConflict(previous, view, 'pods');
  };

  /**
   * Fields that the API server does not know make a new template invalid. One that a manager has accepted without them, before
   * it knew better or while another API server knew them, continues as it is: nothing new would be rolled out.
   */
  const judgeUnknown = async (
    view: AdvancedView,
    message: string,
    template: PodTemplateSpec,
    signal: AbortSignal,
  ): Promise<DefaultedTemplate> => {
    const refused: DefaultedTemplate = { ok: false, message };
    // The template of the generation before had none, or this one has been reported already.
    if (validated?.result.ok && validated.result.unknown === undefined) return refused;
    if (isReported(view)) return refused;
    const { name } = newestRevision(revisions()) ?? {};
    if (name === undefined) return refused;
    const newest = await ifFound(client.get(controllerRevisions, { namespace: view.namespace, name }, { signal }));
    const isKnown = newest && templateDigest(recordedTemplate(newest)) === templateDigest(template);
    return isKnown ? { ok: true, template, unknown: message } : refused;
  };

  const validate = async (view: AdvancedView, signal: AbortSignal): Promise<DefaultedTemplate> => {
    const now = clock.now();
    if (
      validated?.generation === view.generation &&
      (validated.result.ok || now - validated.at < INVALID_TEMPLATE_RECHECK_MS)
    )
      return validated.result;
    const found = await defaultedTemplate(client, view.namespace, view.template, { signal });
    const result =
      !found.ok && found.template ? await judgeUnknown(view, found.message, found.template, signal) : found;
    if (result.ok && result.unknown !== undefined)
      events.warnOnce(`unknown ${result.unknown}`, 'UnknownFields', 'Validate', `Ignored: ${result.unknown}`);
    validated = { generation: view.generation, at: now, result };
    return result;
  };

  /** Hashes of revisions in use: pods carry them, or a rollback would restore them. */
  const liveHashes = (): ReadonlySet<string> => {
    const hashes = new Set<string>();
    for (const { ownership, facts } of pods.values()) if (ownership !== 'other') hashes.add(facts.revision);
    const { lastComplete } = ledger.state;
    if (lastComplete) hashes.add(lastComplete.hash);
    return hashes;
  };

  /** A revision over the history limit was kept only for its pods, and they are gone. */
  const canCleanUp = (): boolean => {
    const overLimit = recorded?.revision.overLimit;
    if (!overLimit || overLimit.size === 0) return false;
    const live = liveHashes();
    return [...overLimit].some((hash) => !live.has(hash));
  };

  /** The recorded revision was observed before and is gone: somebody deleted it. */
  const isDeleted = (): boolean => {
    if (!recorded) return false;
    const { name } = recorded.revision.target;
    const present = revisions().some((revision) => revision.name === name);
    if (present) recorded.observed = true;
    return recorded.observed && !present;
  };

  /** A leader that was suspended recorded its revision late: the current revision must have the highest number. */
  const isOvertaken = (): boolean => {
    const number = recorded?.revision.target.number;
    return number !== undefined && revisions().some((revision) => revision.number > number);
  };

  return {
    async find(view, signal) {
      if (view.selectorError) {
        const { reason, error } = view.selectorError;
        return hold(INVALID, reason, error, Number.POSITIVE_INFINITY);
      }
      conflict = await findConflict(view, signal);
      if (!conflict && view.deleted) {
        blocked = undefined;
        return { kind: 'held', hold: { kind: 'deleted' }, recheckAt: Number.POSITIVE_INFINITY };
      }
      if (conflict) return holdForConflict(conflict);
      const result = await validate(view, signal);
      if (!result.ok) {
        recorded = undefined;
        const error = invalidTemplate(view.name, result.message);
        return hold(INVALID, INVALID_TEMPLATE, error, clock.now() + INVALID_TEMPLATE_RECHECK_MS);
      }
      blocked = undefined;
      const { finishedAt } = ledger.state;
      if (
        recorded?.generation !== view.generation ||
        recorded.finishedAt !== finishedAt ||
        isDeleted() ||
        isOvertaken() ||
        canCleanUp()
      ) {
        const synced = await history.sync(
          view,
          result.template,
          { live: liveHashes(), held: ledger.state.lastComplete },
          signal,
        );
        if (synced.kind === 'previous-owner')
          return holdForConflict(previousOwnerConflict(synced.owner, view, 'ControllerRevisions'));
        if (synced.kind === 'conflict')
          return { kind: 'held', hold: { kind: 'unobserved' }, recheckAt: clock.now() + RETRY_MS };
        recorded = { generation: view.generation, finishedAt, observed: false, revision: synced.revision };
        lastRecorded = synced.revision;
      }
      const refused = review.hold();
      if (refused) {
        const { message, until } = refused;
        return { kind: 'held', hold: { kind: 'refused', message }, recheckAt: until };
      }
      const { target, plans } = recorded.revision;
      const inPlaceFrom = view.policy.policy.inPlace ? new Set(plans.keys()) : undefined;
      return { kind: 'known', revision: { ...target, ...(inPlaceFrom && { inPlaceFrom }) } };
    },
    current: (view) => (recorded?.generation === view.generation ? recorded.revision : undefined),
    lastRecorded: () => lastRecorded,
    mayReturnPods: () => conflict === undefined,
    blocked: () => blocked,
  };
};

/**
 * The current revision from the cluster's objects alone: the newest one, once the status has observed the generation. Both
 * templates are compared as recorded, with all defaults.
 */
export const readTarget = (
  { status, generation, policy, template: stated }: Pick<AdvancedView, 'status' | 'generation' | 'policy' | 'template'>,
  owned: readonly RecordedRevision[],
): TargetRevision | undefined => {
  if ((status.observedGeneration ?? 0) < generation) return undefined;
  const newest = newestRevision(owned);
  if (!newest || !policy.policy.inPlace) return newest;
  const template = owned.find(({ name }) => name === newest.name)?.template;
  const inPlaceFrom = owned.filter(
    (revision) =>
      revision.name !== newest.name &&
      revision.template &&
      template &&
      planInPlace(revision.template, template, stated).kind === 'in-place',
  );
  return { ...newest, inPlaceFrom: new Set(inPlaceFrom.map(({ hash }) => hash)) };
};
