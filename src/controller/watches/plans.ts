import { type AddressRules, type CheckNeed, checkNeeds, createNeedReview, planErrors } from '../../checks/index.ts';
import {
  type CacheFailure,
  type CallOptions,
  createReflector,
  defineResource,
  ifFound,
  isKubeError,
  type KubeClient,
  type KubeObject,
  listAll,
  type Reflector,
  type Resource,
  splitKey,
} from '../../kube/index.ts';
import { type Approval, type FoundPlan, type PlanName, type PolicyError, withPlan } from '../../rollout/index.ts';
import { type Env, sleep, untilAborted } from '../../runtime/index.ts';
import { planApi, type RolloutApproval, type RolloutPlanObject, type RolloutPlanSpec } from '../../words/index.ts';
import { firstFailure, type InternalError } from '../internal-error.ts';
import type { DaemonSetView } from '../kind.ts';

const { group, version } = planApi;
export const rolloutPlans = defineResource<RolloutPlanObject>({ group, version, ...planApi.plan, namespaced: true });
export const clusterRolloutPlans = defineResource<RolloutPlanObject>({
  group,
  version,
  ...planApi.clusterPlan,
  namespaced: false,
});
export const rolloutApprovals = defineResource<RolloutApproval>({
  group,
  version,
  ...planApi.approval,
  namespaced: true,
});

/** The DaemonSet that an approval is about: `group/namespace/name`. */
const subjectOf = (apiGroup: string, namespace: string, name: string): string => `${apiGroup}/${namespace}/${name}`;

interface KeptApproval extends Approval {
  subject: string;
}

export const toApproval = ({ metadata, spec }: RolloutApproval): KeptApproval => ({
  subject: subjectOf(spec.daemonSet.apiGroup ?? 'apps', metadata.namespace ?? '', spec.daemonSet.name),
  revision: spec.revision,
  stage: spec.stage,
  decision: spec.decision ?? 'Approve',
  by: spec.approvedBy,
  ...(metadata.creationTimestamp !== undefined && { at: metadata.creationTimestamp }),
  ...(spec.comment !== undefined && { comment: spec.comment }),
});

export interface PlansOptions {
  client: KubeClient;
  env: Env;
  /** Undefined: all. */
  namespaces: readonly string[] | undefined;
  /** A plan was added, changed or removed, everything has been listed, or a plan is judged in another way. */
  plansChanged: () => void;
  /** An approval was added or removed. */
  approvalsChanged: () => void;
  /** What the caches lack has changed. Default: nobody needs to know. */
  failuresChanged?: () => void;
  /**
   * For those who only look: what they may not read, or the cluster does not have, counts as empty, and is tried again now and
   * then. A manager must know the plan. Default false.
   */
  mayMiss?: boolean;
  /** For the manager, which alone can judge which servers checks ask and with which Secrets. Default: what plans say by themselves is judged. */
  manager?: {
    rules: AddressRules;
    /** Where the Secrets of cluster plans are. */
    ownNamespace: string;
    /** The plans that managed DaemonSets name, with the namespaces of these. */
    inUse: () => Iterable<readonly [namespace: string, plan: PlanName]>;
  };
}

/** A plan as it is kept: judged once for each change of it. */
interface KeptPlan {
  spec: RolloutPlanSpec;
  errors: readonly PolicyError[];
  needs: readonly CheckNeed[];
}

const SUBJECT = 'subject';
const RETRY_MS = 30_000;

const resourceOf = ({ cluster }: PlanName): Resource<RolloutPlanObject> =>
  cluster ? clusterRolloutPlans : rolloutPlans;

/** Why a resource is as good as empty for those who only look; undefined for any other error. */
const missingBy = (error: unknown): 'Forbidden' | 'NotFound' | undefined =>
  (['Forbidden', 'NotFound'] as const).find((code) => isKubeError(error, code));

/**
 * The caches of rollout plans and approvals. They are filled from the moment that a DaemonSet names a plan: clusters without
 * plans pay nothing for them, and need not have their CRDs.
 */
export const createPlans = (options: PlansOptions) => {
  const {
    client,
    env,
    namespaces,
    plansChanged,
    approvalsChanged,
    mayMiss = false,
    manager,
    failuresChanged = () => undefined,
  } = options;
  /** By the plural of the resource. */
  const missing = new Map<string, 'Forbidden' | 'NotFound'>();
  const caches: {
    run: (signal: AbortSignal) => Promise<void>;
    isReady: () => boolean;
    isCurrent: () => boolean;
  }[] = [];
  const inNamespaces = <T>(create: (where: { namespace?: string }) => T): T[] =>
    (namespaces ?? [undefined]).map((namespace) => create(namespace === undefined ? {} : { namespace }));
  const cache = <T extends KubeObject, P>(
    resource: Resource<T>,
    project: (object: T) => P,
    changed: (key?: string, value?: P) => void,
    where: { namespace?: string } = {},
    indexes: Readonly<Record<string, (value: P) => readonly string[]>> = {},
  ): Reflector<P> => {
    const { plural } = resource;
    const synced = (): void => {
      missing.delete(plural);
      changed();
    };
    const handlers = [{ upsert: changed, remove: () => changed(), synced, failuresChanged }];
    const reflector = createReflector<T, P>({ client, env, resource, project, handlers, indexes, ...where });
    /** Why it can't be listed; any other failure is for the watch to retry. */
    const tryList = async (signal: AbortSignal): Promise<'Forbidden' | 'NotFound' | undefined> => {
      try {
        await client.list(resource, { ...where, limit: 1, signal });
        return undefined;
      } catch (error) {
        return missingBy(error);
      }
    };
    caches.push({
      isReady: () => reflector.synced || missing.has(plural),
      isCurrent: () => reflector.isCurrent(),
      async run(signal) {
        while (mayMiss && !signal.aborted) {
          const why = await tryList(signal);
          if (!why) break;
          if (missing.get(plural) !== why) {
            missing.set(plural, why);
            changed();
          }
          await sleep(env.clock, RETRY_MS, signal).catch(() => undefined);
        }
        if (!signal.aborted) await reflector.run(signal);
      },
    });
    return reflector;
  };
  const toPlan =
    (cluster: boolean) =>
    ({ metadata, spec }: RolloutPlanObject): KeptPlan => ({
      spec,
      errors: planErrors(spec, cluster, manager?.rules),
      needs: manager ? checkNeeds(spec, cluster ? manager.ownNamespace : (metadata.namespace ?? '')) : [],
    });
  /** For DaemonSets of this namespace. */
  const needsIn = (namespace: string | undefined, plan: KeptPlan | undefined): CheckNeed[] =>
    (plan?.needs ?? []).map((need) => ({ ...need, namespace: need.namespace ?? namespace }));
  const planChanged = (key = '', plan?: KeptPlan): void => {
    needs?.review(needsIn(splitKey(key).namespace, plan));
    plansChanged();
  };
  const own = inNamespaces((namespace) => cache(rolloutPlans, toPlan(false), planChanged, namespace));
  const ofCluster = cache(clusterRolloutPlans, toPlan(true), planChanged);
  const stored = (namespace: string, { name, cluster }: PlanName): KeptPlan | undefined =>
    cluster
      ? ofCluster.store.get(name)
      : own.map(({ store }) => store.get(`${namespace}/${name}`)).find((found) => found !== undefined);
  const needs =
    manager &&
    createNeedReview({
      client,
      clock: env.clock,
      needed: () => Iterator.from(manager.inUse()).flatMap((named) => needsIn(named[0], stored(...named))),
      changed: plansChanged,
    });
  const approvals = inNamespaces((namespace) =>
    cache(rolloutApprovals, toApproval, approvalsChanged, namespace, { [SUBJECT]: ({ subject }) => [subject] }),
  );
  const needed = Promise.withResolvers<void>();

  return {
    /** A DaemonSet names a plan. */
    need: (): void => needed.resolve(),
    synced: (): boolean => caches.every(({ isReady }) => isReady()),
    /** See `Reflector`, for all of them. */
    isCurrent: (): boolean => caches.every(({ isCurrent }) => isCurrent()),
    isUnreadable: (plan: PlanName): boolean => missing.get(resourceOf(plan).plural) === 'Forbidden',
    /** What belongs to this plan, and may not be read. */
    unreadable: (plan: PlanName): readonly string[] =>
      [resourceOf(plan), rolloutApprovals]
        .map(({ plural }) => plural)
        .filter((plural) => missing.get(plural) === 'Forbidden'),
    /** What the caches lack of this plan, or may lack of the approvals of its stages; undefined: nothing. */
    failure(namespace: string, { name, cluster }: PlanName): InternalError | undefined {
      const key = cluster ? name : `${namespace}/${name}`;
      const isThis = (failure: CacheFailure): boolean => failure.key === key;
      const inNamespace = (failure: CacheFailure): boolean => splitKey(failure.key).namespace === namespace;
      return (
        firstFailure(planApi.clusterPlan.kind, cluster ? ofCluster.failures : [], isThis) ??
        firstFailure(planApi.plan.kind, cluster ? [] : own.flatMap(({ failures }) => failures), isThis) ??
        firstFailure(
          planApi.approval.kind,
          approvals.flatMap(({ failures }) => failures),
          inNamespace,
        )
      );
    },
    find(namespace: string, plan: PlanName): FoundPlan {
      const found = stored(namespace, plan);
      return found && { ...found, errors: [...found.errors, ...(needs?.errorsOf(needsIn(namespace, found)) ?? [])] };
    },
    /** False while Secrets and templates that it names have not been read. */
    isJudged(namespace: string, plan: PlanName): boolean {
      const found = stored(namespace, plan);
      return !found || !needs || needs.errorsOf(needsIn(namespace, found)) !== undefined;
    },
    approvalsOf: (apiGroup: string, namespace: string, name: string): readonly Approval[] =>
      approvals.flatMap(({ store }) => store.byIndex(SUBJECT, subjectOf(apiGroup, namespace, name))),
    /** Fills and keeps the caches until the signal aborts, once they are needed. */
    async run(signal: AbortSignal): Promise<void> {
      await Promise.race([needed.promise, untilAborted(signal)]);
      if (signal.aborted) return;
      await Promise.all([...caches.map(({ run }) => run(signal)), needs?.run(signal)]);
    },
  };
};

/**
 * Reads a plan once, and judges what it says by itself. `unreadable`: without the right to. A cluster without the CRDs has none.
 */
export const readPlan = async (
  client: Pick<KubeClient, 'get'>,
  namespace: string,
  plan: PlanName,
  call: CallOptions = {},
): Promise<FoundPlan | 'unreadable'> => {
  const { name, cluster } = plan;
  try {
    const found = await ifFound(client.get(resourceOf(plan), { ...(!cluster && { namespace }), name }, call));
    return found && { spec: found.spec, errors: planErrors(found.spec, cluster) };
  } catch (error) {
    if (isKubeError(error, 'Forbidden')) return 'unreadable';
    throw error;
  }
};

/**
 * The DaemonSet with the plan that it names, and the approvals of its stages, read once. Without the right to read the plan,
 * the DaemonSet is as if it named none.
 */
export const readPlans = async <V extends DaemonSetView>(
  client: Pick<KubeClient, 'get' | 'list'>,
  apiGroup: string,
  view: V,
  call: CallOptions,
): Promise<{ view: V; approvals: readonly Approval[]; unreadable: readonly string[] }> => {
  const { namespace, name } = view;
  const plan = view.policy.policy.rolloutPlan;
  if (!plan) return { view, approvals: [], unreadable: [] };
  const readApprovals = async (): Promise<RolloutApproval[] | 'unreadable'> => {
    try {
      // A cluster without the CRDs has none.
      return (await ifFound(listAll(client, rolloutApprovals, { namespace, ...call }))) ?? [];
    } catch (error) {
      if (isKubeError(error, 'Forbidden')) return 'unreadable';
      throw error;
    }
  };
  const [found, all] = await Promise.all([readPlan(client, namespace, plan, call), readApprovals()]);
  const subject = subjectOf(apiGroup, namespace, name);
  return {
    view: found === 'unreadable' ? view : { ...view, policy: withPlan(view.policy, () => found) },
    unreadable: [
      ...(found === 'unreadable' ? [resourceOf(plan).plural] : []),
      ...(all === 'unreadable' ? [rolloutApprovals.plural] : []),
    ],
    approvals: (all === 'unreadable' ? [] : all).map(toApproval).filter((approval) => approval.subject === subject),
  };
};
