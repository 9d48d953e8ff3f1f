import { createReflector, type EventRecorder, isKubeError, type KubeClient, type Store } from '../kube/index.ts';
import {
  type Act,
  controllerOf,
  createLedger,
  type Decision,
  decide,
  isEligible,
  matches,
  type NodeFacts,
  type NodeView,
  type OutsideHold,
  type PodFacts,
  restore,
  statusOf,
  toPodFacts,
} from '../rollout/index.ts';
import type { Env } from '../runtime/index.ts';
import { createActor } from './actor.ts';
import type { DaemonSetView } from './daemonset-view.ts';
import type { ControllerObserver } from './observer.ts';
import { createPodActs } from './pod-acts.ts';
import { pods } from './resources.ts';
import type { RevisionView } from './revision-view.ts';
import { rollBack } from './rollback.ts';
import { createRolloutObject } from './rollout-object.ts';
import { createStatusWriter } from './status-writer.ts';
import { createTargetFinder } from './target.ts';
import { createTeller } from './tell.ts';

/** Slots that become free within this time are reserved with one write. */
const WAVE_EVERY_MS = 100;

export interface SessionOptions {
  client: KubeClient;
  env: Env;
  events: EventRecorder;
  identity: string;
  view: DaemonSetView;
  nodes: Store<NodeView>;
  /** The caches that all DaemonSets share hold a consistent view. */
  sharedSynced: () => boolean;
  cachedRevisions: (ownerUid: string) => Iterable<RevisionView>;
  readRevisions: (view: DaemonSetView, signal: AbortSignal) => Promise<RevisionView[]>;
  /** Asks for a reconcile at once. */
  enqueue: () => void;
  observe: ControllerObserver;
}

/** One DaemonSet that opted in: its pods' cache, its ledger, and the loop that carries decisions out. */
export const createSession = (options: SessionOptions) => {
  const { client, env, nodes, enqueue, observe } = options;
  const { namespace, name, uid } = options.view;
  const { clock } = env;
  const log = env.log.with({ namespace, name });
  let view = options.view;

  const ledger = createLedger(view.policy.policy);
  const object = createRolloutObject(client, view);
  const teller = createTeller(options.events, view);
  const acts = createPodActs(client, namespace, options.identity, clock.now);
  const actor = createActor({ env: { ...env, log }, ledger, acts, teller, observe, ended: enqueue });
  const writer = createStatusWriter({ object, teller, clock, observe });
  const findTarget = createTargetFinder({
    clock,
    cached: options.cachedRevisions,
    read: options.readRevisions,
  });

  /** The ledger holds what the DaemonRollout said when we began to lead, and all that we did since. */
  let authoritative = false;
  /** Slots were reserved in the ledger that are not written yet: nothing may be carried out before. */
  let unwritten = false;
  let firstSight = true;
  let nextWaveAt = 0;
  /** Our own write to the DaemonSet, until the watch has delivered it. */
  let awaited: { resourceVersion: string } | undefined;

  const toNodeFacts = (node: NodeView): NodeFacts => {
    const { nodeSelector, topologyKey } = view.policy.policy;
    return {
      name: node.name,
      ready: node.ready,
      readyChangedAt: node.readyChangedAt,
      eligible: isEligible(view.needs, node),
      selected: nodeSelector === undefined || matches(nodeSelector, node.labels),
      zone: topologyKey === undefined ? '' : (node.labels[topologyKey] ?? ''),
    };
  };

  const sameFacts = (a: NodeFacts | undefined, b: NodeFacts): boolean =>
    a !== undefined &&
    a.ready === b.ready &&
    a.readyChangedAt === b.readyChangedAt &&
    a.eligible === b.eligible &&
    a.selected === b.selected &&
    a.zone === b.zone;

  const setNode = (node: NodeView): void => {
    const facts = toNodeFacts(node);
    const known = ledger.get(node.name)?.node;
    if (sameFacts(known, facts) || (known === undefined && !facts.eligible)) return;
    ledger.setNode(facts, clock.now());
    enqueue();
  };

  const podReflector = createReflector({
    client,
    resource: pods,
    env: { ...env, log },
    namespace,
    labelSelector: view.podSelector,
    project: (pod): PodFacts | undefined => (controllerOf(pod)?.uid === uid ? toPodFacts(pod) : undefined),
    handlers: [
      {
        upsert(_key, pod, previous) {
          if (previous && previous.uid !== pod.uid) ledger.removePod(previous.uid, clock.now());
          ledger.setPod(pod, clock.now());
          enqueue();
        },
        remove(_key, pod) {
          ledger.removePod(pod.uid, clock.now());
          enqueue();
        },
        synced: enqueue,
      },
    ],
  });

  const synced = (): boolean => options.sharedSynced() && podReflector.synced;

  const outsideHold = (observed: boolean): OutsideHold | undefined => {
    if (view.policy.kind === 'invalid') return { kind: 'invalid', errors: view.policy.errors };
    return observed && awaited === undefined ? undefined : { kind: 'unobserved' };
  };

  const takeOver = async (signal: AbortSignal): Promise<void> => {
    if (object.loaded && authoritative) return;
    const saved = await object.load({ signal });
    if (authoritative) {
      // Somebody deleted the object under us: what we hold is the truth.
      unwritten = true;
      return;
    }
    const restored = restore(saved);
    ledger.restore(restored.state, restored.acts, restored.forgiven, clock.now());
    authoritative = true;
    unwritten = false;
  };

  /** Writes the status with the slots that were reserved; after a failure nothing of it is taken for granted. */
  const write = async (decision: Decision, signal: AbortSignal): Promise<void> => {
    const { policy } = view;
    const status = statusOf({
      ledger,
      decision,
      generation: view.generation,
      policyHash: policy.kind === 'on' ? policy.hash : '',
      previous: object.status,
      now: clock.now(),
    });
    try {
      await writer.write(status, unwritten, signal);
      unwritten = false;
    } catch (error) {
      if (isKubeError(error, 'NotFound')) object.forget();
      else if (!isKubeError(error) || error.happened === 'unknown' || error.code === 'Conflict') {
        object.forget();
        authoritative = false;
      }
      throw error;
    }
  };

  const rollBackTo = async (to: { name: string; hash: string }, signal: AbortSignal): Promise<void> => {
    const { target } = ledger.state;
    if (!target || awaited) return;
    const outcome = await rollBack(client, view, target.hash, to, signal);
    if (outcome.kind === 'done') {
      awaited = { resourceVersion: outcome.resourceVersion };
      teller.rolledBack(target.name, to.name);
    } else if (outcome.kind === 'impossible') {
      ledger.amend({ lastComplete: undefined }, clock.now());
      teller.rollbackImpossible(to.name);
    }
  };

  const newAct = (pod: PodFacts, now: number): Act => ({
    podUid: pod.uid,
    podName: pod.name,
    podResourceVersion: pod.resourceVersion,
    rollout: ledger.state.rollout,
    at: now,
    stage: 'reserved',
  });

  /** Carries out one decision; true when it changed what the next one is made from. */
  const carryOut = async (decision: Decision, signal: AbortSignal): Promise<boolean> => {
    const now = clock.now();
    let changed = false;
    for (const action of decision.actions) {
      switch (action.type) {
        case 'halt':
          ledger.amend({ halted: action.halt }, now);
          changed = true;
          break;
        case 'resume':
          ledger.forgive(now);
          ledger.amend({ halted: undefined, resumed: action.value }, now);
          changed = true;
          break;
        case 'complete': {
          const { target } = ledger.state;
          ledger.amend({ finishedAt: now, lastComplete: target && { name: target.name, hash: target.hash } }, now);
          changed = true;
          break;
        }
        case 'rollback':
          await rollBackTo(action.to, signal);
          break;
        case 'delete':
          actor.carryOut(action.node);
          break;
        case 'release':
          if (action.fence) actor.fence(action.node);
          else {
            ledger.release(action.node, now);
            changed = true;
          }
          break;
        case 'reserve':
          if (now < nextWaveAt) break;
          ledger.reserve(action.node, newAct(action.pod, now), now);
          unwritten = true;
          changed = true;
          break;
      }
    }
    if (unwritten) nextWaveAt = now + WAVE_EVERY_MS;
    return changed;
  };

  return {
    key: `${namespace}/${name}`,
    uid,
    ledger,

    /** Fills and keeps the cache of pods. */
    run: (signal: AbortSignal): Promise<void> => podReflector.run(signal),
    synced,

    update(next: DaemonSetView): void {
      const before = view;
      view = next;
      if (awaited && Number(next.resourceVersion) >= Number(awaited.resourceVersion)) awaited = undefined;
      for (const warning of next.policy.warnings) teller.warning(warning);
      const policyChanged = JSON.stringify(before.policy) !== JSON.stringify(next.policy);
      if (policyChanged) ledger.setPolicy(next.policy.policy, clock.now());
      if (policyChanged || before.generation !== next.generation) for (const node of nodes.values()) setNode(node);
      enqueue();
    },
    setNode,
    removeNode(node: string): void {
      ledger.removeNode(node, clock.now());
      enqueue();
    },

    /** One pass: decide, carry out, write; until nothing is left to do now. Only the leader calls it. */
    async reconcile(signal: AbortSignal): Promise<{ requeueAt?: number }> {
      if (!synced()) return {};
      if (firstSight) {
        firstSight = false;
        ledger.firstSightOver();
        for (const warning of view.policy.warnings) teller.warning(warning);
      }
      await takeOver(signal);
      const target = await findTarget(view, signal);
      if (target.kind === 'known') ledger.setTarget(target.revision, clock.now());
      for (;;) {
        signal.throwIfAborted();
        const now = clock.now();
        ledger.tick(now);
        const decision = decide(ledger, outsideHold(target.kind === 'known'), now);
        if (unwritten) {
          await write(decision, signal);
          continue;
        }
        if (await carryOut(decision, signal)) continue;
        const tellable = ledger.state.target !== undefined || view.policy.kind === 'invalid';
        const statusAt = tellable ? await writeWhenDue(decision, signal) : Number.POSITIVE_INFINITY;
        const waveAt = decision.actions.some(({ type }) => type === 'reserve') ? nextWaveAt : Number.POSITIVE_INFINITY;
        const lookAgainAt = target.kind === 'unobserved' ? target.lookAgainAt : Number.POSITIVE_INFINITY;
        const requeueAt = Math.min(decision.wakeAt, statusAt, waveAt, lookAgainAt, actor.nextTryAt());
        return requeueAt < Number.POSITIVE_INFINITY ? { requeueAt } : {};
      }

      async function writeWhenDue(decision: Decision, abort: AbortSignal): Promise<number> {
        const dueAt = writer.dueAt();
        if (dueAt > clock.now()) return dueAt;
        await write(decision, abort);
        return Number.POSITIVE_INFINITY;
      }
    },

    /** We lead no longer: others may write the object from here on. */
    async standDown(): Promise<void> {
      await actor.settled();
      object.forget();
      authoritative = false;
      unwritten = false;
    },
  };
};
export type Session = ReturnType<typeof createSession>;
