import type { Cause, RolloutPlanSpec } from '../../words/index.ts';
import type { Step } from '../decision/action.ts';
import { type Decision, decide } from '../decision/decide.ts';
import type { OutsideHold } from '../decision/hold.ts';
import type { ImageFacts } from '../facts/image-ready.ts';
import type { NodeFacts } from '../facts/node.ts';
import type { PodFacts } from '../facts/pod.ts';
import { createLedger } from '../fleet/ledger.ts';
import { newState, type RolloutState } from '../fleet/state.ts';
import { type NodeUpdate, newUpdate } from '../node/update.ts';
import { withPlan } from '../plan/plan.ts';
import { afterStageAction } from '../plan/stage-state.ts';
import { percent } from '../policy/int-or-percent.ts';
import type { Plan } from '../policy/plan-terms.ts';
import { type Policy, parsePolicy } from '../policy/policy.ts';
import type { DaemonSetName } from '../report/remedy-command.ts';

/** How many runs a property makes, before its own factor. */
export const runs = Number(process.env['EDGESET_RUNS'] ?? 250);

/** The seed of properties: the same runs each time, unless `EDGESET_SEED` is `random` or another seed. */
const chosenSeed = process.env['EDGESET_SEED'] ?? '1';
export const seed = chosenSeed === 'random' ? Number(process.hrtime.bigint() % 2n ** 31n) : Number(chosenSeed);
if (!Number.isSafeInteger(seed)) throw new Error(`EDGESET_SEED must be an integer or random, not "${chosenSeed}"`);

/** As conditions call it. */
export const daemonSetName: DaemonSetName = { short: 'ds', namespace: 'edge', name: 'app' };

/** The policy of a DaemonSet with only the annotation `auto`, with changes. */
export const policyWith = (change: Partial<Policy> = {}): Policy => {
  const parsed = parsePolicy({
    annotations: { 'apps.openyurt.io/update-strategy': 'auto' },
    updateStrategyType: 'OnDelete',
    minReadySeconds: 0,
  });
  if (parsed.kind !== 'on') throw new Error('the default policy must be valid');
  return { ...parsed.policy, ...change };
};

export const START = Date.parse('2030-01-01T00:00:00Z');
/** The facts about the images of a revision; requested at START by default. */
export const imagesOf = (
  revision: string,
  state: ImageFacts['state'],
  change: Partial<ImageFacts> = {},
): { images: ImageFacts } => ({
  images: { revision, state, cause: state === 'failed' ? 'no such image' : '', at: START, ...change },
});

const LONG_AGO = START - 86_400_000;

/**
 * A ledger to try things on: each method adds one fact, time stands still until `advance`, and updates are carried out at
 * once, without a first wave unless the policy sets one. Revisions are named `a`, `b`, `c`; by default nodes have long been
 * Ready, and pods available.
 */
export const createWorkbench = (initial: Partial<Policy> = {}, { readOnly = false } = {}) => {
  let policy = policyWith(initial);
  const updateTimes: number[] = [];
  let aheadMs = 0;
  const ledger = createLedger(policy, {
    readOnly,
    onUpdateCompleted: (ms) => updateTimes.push(ms),
    aheadMs: () => aheadMs,
  });
  let now = START;
  let uids = 0;
  let versions = 0;
  let targets = 0;
  let outside: OutsideHold | undefined;
  const live = new Map<string, PodFacts>();

  const nextVersion = (): string => {
    versions += 1;
    return String(versions);
  };

  const bench = {
    ledger,
    /** How long each completed update took, ms. */
    updateTimes,
    now: (): number => now,
    /** From now on the API server's clock is this far behind. */
    setAhead(ms: number): void {
      aheadMs = ms;
      ledger.tick(now);
    },
    advance(ms: number): void {
      now += ms;
      ledger.tick(now);
    },
    policy(next: Partial<Policy>): void {
      policy = { ...policy, ...next };
      ledger.setPolicy(policy, now);
    },
    hold(next: OutsideHold | undefined): void {
      outside = next;
    },
    /** Pods of the revisions in `inPlaceFrom` can be updated to the target in place. */
    target(hash: string, ...inPlaceFrom: string[]): void {
      targets += 1;
      ledger.setTarget({ name: `set-${hash}`, hash, number: targets, inPlaceFrom: new Set(inPlaceFrom) }, now);
    },

    node(name: string, facts: Partial<NodeFacts> = {}): void {
      const known = ledger.get(name)?.node;
      const usual = { name, ready: true, readyChangedAt: LONG_AGO, eligible: true, selected: true, zone: '' };
      ledger.setNode({ ...(known ?? usual), ...facts }, now);
    },
    offline: (...names: string[]): void => {
      for (const name of names) bench.node(name, { ready: false, readyChangedAt: now });
    },
    online: (...names: string[]): void => {
      for (const name of names) bench.node(name, { ready: true, readyChangedAt: now });
    },
    /** Adds a pod to a node, beside any others. */
    pod(node: string, revision: string, facts: Partial<PodFacts> = {}): PodFacts {
      uids += 1;
      const pod: PodFacts = {
        uid: `u${uids}`,
        name: `set-${uids}`,
        resourceVersion: nextVersion(),
        node,
        revision,
        createdAt: LONG_AGO,
        terminating: false,
        ready: true,
        readyChangedAt: LONG_AGO,
        trouble: undefined,
        detail: '',
        ...facts,
      };
      live.set(node, pod);
      ledger.setPod(pod, now);
      return pod;
    },
    /** Changes the pod that was last added to a node. */
    change(node: string, facts: Partial<PodFacts>): PodFacts {
      const pod = live.get(node);
      if (!pod) throw new Error(`no pod on ${node}`);
      const next = { ...pod, resourceVersion: nextVersion(), ...facts };
      live.set(node, next);
      ledger.setPod(next, now);
      return next;
    },
    removePod(node: string): void {
      const pod = live.get(node);
      if (pod) ledger.removePod(pod.uid, now);
      live.delete(node);
    },
    /** The pod that was last added to a node. */
    last: (node: string): PodFacts | undefined => live.get(node),
    /** Adds a pod of `revision`, created now; ready by default. */
    start: (node: string, revision: string, facts: Partial<PodFacts> = {}): PodFacts =>
      bench.pod(node, revision, { createdAt: now, readyChangedAt: now, ...facts }),

    restore(
      updates: Record<string, NodeUpdate>,
      { forgiven = [], state = savedState() }: { forgiven?: string[]; state?: RolloutState } = {},
    ): void {
      ledger.restore(state, new Map(Object.entries(updates)), new Set(forgiven), now);
    },

    decide(): Decision {
      ledger.tick(now);
      return decide(ledger, outside, now, { firstWave: percent(100) });
    },
    /** The decision's actions without their reasons. */
    steps: (): Step[] => bench.decide().actions.map(({ because: _because, ...step }) => step),
    /** The reasons of the decision's actions. */
    reasons: (): string[] => bench.decide().actions.map(({ type, because }) => `${type}: ${because}`),
    /** Notes what is decided about stages, until there is nothing. Returns the decisions, such as `promote lab`. */
    followStages(): string[] {
      const taken: string[] = [];
      for (;;) {
        const action = bench.decide().actions.find((each) => 'stage' in each);
        if (!action || !('stage' in action)) return taken;
        ledger.patchState({ stages: afterStageAction(ledger.state.stages, action, ledger.planTime(now)) }, now);
        taken.push(`${action.type} ${action.stage}${action.type === 'promote' ? ` ${action.how}` : ''}`);
      }
    },
    /** The nodes of a decision's actions of one type. */
    nodesOf: (type: Step['type']): string[] =>
      bench.decide().actions.flatMap((action) => (action.type === type && 'node' in action ? [action.node] : [])),
    reserve(node: string, change: Partial<NodeUpdate> = {}): void {
      const pod = live.get(node);
      if (!pod) throw new Error(`no pod on ${node}`);
      const { kind, ...rest } = change;
      const update = newUpdate({ pod, ...(kind && { kind }) }, ledger.state.rollout, now);
      ledger.reserve(node, { ...update, ...rest }, now);
    },
    /** Reserves a slot and updates the pod in place to the target, which closes its gate. */
    updateInPlace(...nodes: string[]): void {
      const revision = ledger.state.target?.hash;
      if (revision === undefined) throw new Error('there is no target');
      for (const node of nodes) {
        bench.reserve(node, { kind: 'in-place' });
        bench.change(node, {
          revision,
          hasInPlaceGate: true,
          updatingInPlace: true,
          ready: false,
          readyChangedAt: now,
        });
      }
    },
    /** Reserves a slot and creates a pod of the target beside the old one; not ready by default. */
    surge(node: string, facts: Partial<PodFacts> = {}): PodFacts {
      const revision = ledger.state.target?.hash;
      if (revision === undefined) throw new Error('there is no target');
      bench.reserve(node, { kind: 'surge' });
      const pod = bench.start(node, revision, { ready: false, ...facts });
      ledger.noteEvent(node, 'confirmed', now);
      return pod;
    },
    /** The pod that was updated in place has started, and its gate is open again. */
    finishInPlace(...nodes: string[]): void {
      for (const node of nodes)
        bench.change(node, { updatingInPlace: false, gateChangedAt: now, ready: true, readyChangedAt: now });
    },
    /** Reserves a slot and deletes the pod, which is gone at once. */
    deletePod(...nodes: string[]): void {
      for (const node of nodes) {
        bench.reserve(node);
        ledger.noteEvent(node, 'confirmed', now);
        bench.removePod(node);
      }
    },
    /** Reserves a slot and deletes the pod; a new pod of `revision` is available at once. */
    update(revision: string, ...nodes: string[]): void {
      for (const node of nodes) {
        bench.deletePod(node);
        bench.start(node, revision);
      }
    },
    phase: (node: string): string => {
      const view = ledger.get(node)?.status;
      return `${view?.phase}/${view?.cause}`;
    },
    cause: (node: string): Cause | undefined => ledger.get(node)?.status.cause,
  };
  return bench;
};
/** The state of a second rollout, from `a` to `b`, as a DaemonRollout has it. */
export const savedState = (change: Partial<RolloutState> = {}): RolloutState => ({
  ...newState(),
  rollout: 2,
  target: { name: 'set-b', hash: 'b', number: 2 },
  startedAt: START - 60_000,
  updatesStarted: 1,
  ...change,
});

export type Workbench = ReturnType<typeof createWorkbench>;

/** `nodes` nodes n0, n1, ... that run revision `a`; the initial sync is done, and the target is now `b`. */
export const benchAt = (nodes: number, change: Partial<Policy> = {}): Workbench => {
  const bench = createWorkbench(change);
  bench.target('a');
  for (let index = 0; index < nodes; index += 1) {
    bench.node(`n${index}`);
    bench.pod(`n${index}`, 'a');
  }
  bench.ledger.finishInitialSync();
  bench.advance(0);
  bench.target('b');
  return bench;
};

/** A plan as it is parsed from a spec. */
export const planOf = (spec: RolloutPlanSpec): Plan => {
  const policy = policyWith({ rolloutPlan: { name: 'plan', cluster: false } });
  const parsed = withPlan({ kind: 'on', policy, hash: '', warnings: [] }, () => ({ spec }));
  if (parsed.kind === 'invalid' || !parsed.policy.plan) throw new Error(JSON.stringify(parsed));
  return parsed.policy.plan;
};
