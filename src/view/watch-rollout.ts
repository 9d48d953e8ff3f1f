import { isDeepStrictEqual } from 'node:util';
import {
  createPlans,
  type DaemonSetObject,
  type DaemonSetView,
  daemonRollouts,
  type Kind,
  toRecorded,
  watchPods,
} from '../controller/index.ts';
import { controllerRevisions, createReflector, type KubeClient, keyOf, nodes, type Reflector } from '../kube/index.ts';
import {
  controllerOf,
  createNodeReader,
  type NodeInfo,
  type OutsideHold,
  type Preceding,
  type Predecessor,
  withPlan,
} from '../rollout/index.ts';
import { anySignal, type Env, sleep } from '../runtime/index.ts';
import type { DaemonRollout, DaemonRolloutStatus } from '../words/index.ts';
import { readPreceding } from './read-rollout.ts';
import { createRolloutDisplay, managerVerdict, type RolloutReading } from './rollout-display.ts';

export interface WatchRolloutOptions<V extends DaemonSetView = DaemonSetView> {
  client: KubeClient;
  /** Its log tells of watches that fail; they are retried. */
  env: Env;
  namespace: string;
  name: string;
  /** Called for every change; call `read` when it suits. */
  changed: () => void;
  /** Those that the caller watches for several rollouts (`watchNodes`). Default: its own watch. */
  nodes?: Reflector<NodeInfo>;
  /** What else would hold the manager back; read now and then. */
  outsideHold?: (view: V) => Promise<OutsideHold | undefined>;
  /** A DaemonSet that the plan names in `after`; read now and then. */
  preceding?: (predecessor: Predecessor) => Promise<Preceding | undefined>;
}

export interface RolloutWatch<V extends DaemonSetView = DaemonSetView> {
  /** Watches until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** The rollout as the watches show it now; undefined while something is still being listed. */
  read(): RolloutReading<V> | 'not-managed' | undefined;
}

const HOLD_INTERVAL_MS = 15_000;
const nothing = (): void => undefined;

/** What is watched of one DaemonSet: another one of the same name gets its own. */
const follow = <D extends DaemonSetObject, V extends DaemonSetView, P>(
  kind: Kind<D, V, P>,
  view: V,
  { store: allNodes }: Reflector<NodeInfo>,
  { client, env, namespace, changed, outsideHold, preceding }: WatchRolloutOptions<V>,
) => {
  let hold: OutsideHold | undefined;
  const display = createRolloutDisplay(kind, { clock: env.clock, view, nodes: allNodes, changed });
  const { model } = display;
  const pods = watchPods({ client, env, model, projection: kind.pods, failuresChanged: changed });
  const revisions = createReflector({
    client,
    env,
    namespace,
    labelSelector: view.podSelector,
    resource: controllerRevisions,
    project: (revision) => toRecorded(revision, kind.resource)[0],
    handlers: [{ upsert: changed, remove: changed, synced: changed }],
  });
  let ordered = false;
  const keepHold = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      // A hold that can't be read is the manager's to report.
      const next = await outsideHold?.(model.view()).catch(() => undefined);
      if (!isDeepStrictEqual(next, hold)) changed();
      hold = next;
      const { after = [] } = model.view().policy.policy.plan ?? {};
      const waits = preceding && (await readPreceding(after, preceding).catch(() => undefined));
      if (waits && (after.length > 0 || ordered)) {
        ordered = after.length > 0;
        display.setOrder(waits);
        changed();
      }
      await sleep(env.clock, HOLD_INTERVAL_MS, signal).catch(nothing);
    }
  };
  const stop = new AbortController();
  for (const node of allNodes.values()) model.setNode(node);

  return {
    uid: view.uid,
    model,
    stop: (): void => stop.abort(),
    async run(signal: AbortSignal): Promise<void> {
      const both = anySignal(signal, stop.signal);
      pods.whenSynced(both).then(changed, nothing);
      await Promise.all([pods.run(both), revisions.run(both), keepHold(both)]);
    },
    read(status: DaemonRolloutStatus | undefined, unreadable: readonly string[]): RolloutReading<V> | undefined {
      if (!pods.synced || !revisions.synced) return undefined;
      const reported = managerVerdict(model.view(), status) ?? hold;
      return display.read({ status, revisions: [...revisions.store.values()], unreadable, hold: reported });
    },
  };
};

/** The nodes of the cluster, for the rollouts that are watched. */
export const watchNodes = ({ client, env }: Pick<WatchRolloutOptions, 'client' | 'env'>): Reflector<NodeInfo> =>
  createReflector({ client, env, resource: nodes, project: createNodeReader() });

/** Follows a DaemonSet's rollout without executing anything: `readRollout`, kept up to date by watches. */
export const watchRollout = <D extends DaemonSetObject, V extends DaemonSetView, P>(
  kind: Kind<D, V, P>,
  options: WatchRolloutOptions<V>,
): RolloutWatch<V> => {
  const { client, env, namespace, name, changed } = options;
  const common = { client, env };
  let own: ReturnType<typeof follow<D, V, P>> | undefined;
  let running: AbortSignal | undefined;
  const ended = new Set<Promise<void>>();

  const nodeReflector = options.nodes ?? watchNodes(common);

  /** As the watch of DaemonSets has it. */
  let latest: V | undefined;
  const unreadable = (): readonly string[] => {
    const plan = latest?.policy.policy.rolloutPlan;
    return plan ? plans.unreadable(plan) : [];
  };
  const planned = (view: V): V => {
    const plan = view.policy.policy.rolloutPlan;
    return plan && !plans.isUnreadable(plan)
      ? { ...view, policy: withPlan(view.policy, () => plans.find(namespace, plan)) }
      : view;
  };
  const plans = createPlans({
    ...common,
    namespaces: [namespace],
    mayMiss: true,
    plansChanged() {
      if (latest) own?.model.update(planned(latest));
      changed();
    },
    approvalsChanged() {
      own?.model.ledger.setApprovals(plans.approvalsOf(kind.resource.group, namespace, name));
      changed();
    },
  });
  const plansSynced = (): boolean => latest?.policy.policy.rolloutPlan === undefined || plans.synced();

  const close = (): void => {
    own?.stop();
    own = undefined;
  };
  const open = (view: V): void => {
    close();
    own = follow(kind, view, nodeReflector, options);
    if (!running) return;
    const run: Promise<void> = own.run(running).finally(() => ended.delete(run));
    ended.add(run);
  };
  const daemonSets = createReflector({
    ...common,
    resource: kind.resource,
    namespace,
    fieldSelector: `metadata.name=${name}`,
    project: (daemonSet: D, known?: V) => kind.toView(daemonSet, known),
    handlers: [
      {
        upsert(_key: string, view: V) {
          latest = view;
          if (view.policy.policy.rolloutPlan) plans.need();
          if (own?.uid === view.uid) own.model.update(planned(view));
          else open(planned(view));
          own?.model.ledger.setApprovals(plans.approvalsOf(kind.resource.group, namespace, name));
          changed();
        },
        remove() {
          close();
          changed();
        },
        synced: changed,
      },
    ],
  });
  const rollouts = createReflector({
    ...common,
    resource: daemonRollouts,
    namespace,
    fieldSelector: `metadata.name=${kind.rolloutName(name)}`,
    project: (rollout: DaemonRollout) => ({ ownerUid: controllerOf(rollout)?.uid, status: rollout.status }),
    handlers: [{ upsert: changed, remove: changed, synced: changed }],
  });

  return {
    async run(signal) {
      running = signal;
      const removeHandler = nodeReflector.addHandler({
        upsert(_key: string, node: NodeInfo, previous: NodeInfo | undefined) {
          // A heartbeat changes nothing that a DaemonSet depends on.
          if (!isDeepStrictEqual(node, previous)) own?.model.setNode(node, previous);
        },
        remove: (_key: string, node: NodeInfo) => own?.model.removeNode(node.name),
        synced: changed,
      });
      const reflectors = [daemonSets, rollouts, ...(options.nodes ? [] : [nodeReflector])];
      await Promise.all([...reflectors.map((reflector) => reflector.run(signal)), plans.run(signal)]);
      removeHandler();
      await Promise.all(ended);
    },
    read() {
      if (![nodeReflector, daemonSets, rollouts].every(({ synced }) => synced) || !plansSynced()) return undefined;
      if (!own) return 'not-managed';
      const rollout = rollouts.store.get(keyOf({ metadata: { namespace, name: kind.rolloutName(name) } }));
      return own.read(rollout?.ownerUid === own.uid ? rollout.status : undefined, unreadable());
    },
  };
};
