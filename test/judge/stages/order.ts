import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';
import type { RolloutPlanSpec } from '../../../src/words/index.ts';
import { followsPredecessors, isAvailable, isNative, nodeOf, policyOf } from '../../invariants/index.ts';
import type { Check, CheckContext } from '../check.ts';
import type { UnreadableCheck } from '../manager/unreadable.ts';
import { type ClusterState, generationKey, isEligible } from '../state/cluster-state.ts';
import type { PlanState } from '../state/follow-plan.ts';
import type { ProcessView } from '../state/process-view.ts';
import { tolerances } from '../tolerances.ts';
import type { ProcessKnowledge } from './process-knowledge.ts';

type Predecessor = NonNullable<RolloutPlanSpec['after']>[number];

/** What the order asks about another DaemonSet of the run. */
export interface OtherDaemonSet {
  actual: ClusterState;
  /** What a process has observed of it. */
  viewOf: (process: string) => ProcessView;
  /** What a process cannot compute, and could not a moment ago. */
  unreadable: Pick<UnreadableCheck, 'held' | 'isWell'>;
}

/**
 * G7, by what the sender has observed: a node is updated once the DaemonSets that its plan names are updated and available
 * there, or everywhere.
 */
export const createOrderCheck = (
  { report, now, clockOf }: CheckContext,
  {
    plan,
    knowledge,
    find,
  }: {
    plan: PlanState;
    knowledge: ProcessKnowledge;
    find: (apiGroup: string, name: string) => OtherDaemonSet | undefined;
  },
) => {
  /** By process, and node or UID: when it last heard of the node or a pod there, and of a new template. */
  const heardAt = new Map<string, number>();
  const generations = new Map<string, number | undefined>();
  const heardWithin = (ms: number, process: string, of: string | undefined): boolean =>
    now() - (heardAt.get(`${process} ${of}`) ?? 0) < ms;
  const otherOf = ({ apiGroup = 'apps', name }: Predecessor): OtherDaemonSet | undefined => find(apiGroup, name);

  /** The nodes of these where the process has seen that the DaemonSet is not updated, or not available. */
  const behindOn = (process: string, other: OtherDaemonSet, names: Iterable<string>): string[] => {
    const { actual } = other;
    const view = other.viewOf(process);
    const { daemonSet } = view;
    if (!daemonSet || !actual.daemonSet || generationKey(daemonSet) !== generationKey(actual.daemonSet)) return [];
    if (heardWithin(tolerances.newTemplate.ms, process, daemonSet.metadata?.uid)) return [];
    // Our own managers know the revision of an Advanced DaemonSet before its status says so.
    if (actual.target === undefined && !isNative(daemonSet)) return [];
    const { minReadyMs } = policyOf(daemonSet);
    return [...names].filter((name) => {
      const node = view.nodes.get(name);
      if (!node || !isEligible(node.node, daemonSet) || heardWithin(tolerances.decision.ms, process, name))
        return false;
      const pods = view.podsOn(name);
      return !pods.some((pod) => pod.hash === actual.target && isAvailable(pod, minReadyMs, clockOf(process)));
    });
  };

  /** The predecessors that the node has to wait for, by the plan. */
  const waitsFor = (process: string, node: string, { after = [] }: RolloutPlanSpec): string[] =>
    after.flatMap((predecessor) => {
      const other = otherOf(predecessor);
      if (!other || other.unreadable.held(process)) return [predecessor.name];
      const online = (): string[] =>
        [...other.viewOf(process).nodes].flatMap(([name, { ready }]) => (ready ? [name] : []));
      const behind = behindOn(process, other, predecessor.scope === 'Rollout' ? online() : [node]);
      return behind.length === 0 ? [] : [`${predecessor.name} on ${behind.join(', ')}`];
    });

  const check: Check = {
    onWatchEvent(process, _watch, plural, event) {
      if (event.type === 'BOOKMARK' || !knowledge.plansOf({ process, at: now() }).some(({ after }) => after)) return;
      const { name, uid, generation } = (event.object as { metadata: ObjectMeta }).metadata;
      const hear = (of: string | undefined): void => void heardAt.set(`${process} ${of}`, now());
      if (plural === 'nodes') hear(name);
      if (plural === 'pods') hear(nodeOf(event.object));
      if (plural !== 'daemonsets' || generations.get(`${process} ${uid}`) === generation) return;
      generations.set(`${process} ${uid}`, generation);
      hear(uid);
    },
    onUpdateSent({ call, pod, node, what }) {
      // The second write of an update that began before.
      if (!plan.isStaged() || pod.preparing || pod.gateClosed) return;
      const plans = knowledge.plansOf(call);
      if (!plans.some(({ after = [] }) => after.length > 0)) return;
      report.check('G7');
      const behind = plans.map((spec) => waitsFor(call.process, node, spec));
      if (behind.every(({ length }) => length > 0))
        report.finding(followsPredecessors({ behind: behind.at(-1) ?? [] }), what);
    },
  };
  return {
    check,
    /** The plan lets the node proceed as far as the order is concerned, and has for a while. */
    permits(process: string, node: string): boolean {
      const { after = [] } = plan.plan ?? {};
      const isPlain = after.every(({ scope = 'Node' }) => scope === 'Node');
      return (
        after.length === 0 ||
        (isPlain &&
          after.every((each) => otherOf(each)?.unreadable.isWell(process)) &&
          !heardWithin(tolerances.decision.ms, process, node) &&
          waitsFor(process, node, { after }).length === 0)
      );
    },
  };
};
export type OrderCheck = ReturnType<typeof createOrderCheck>;
