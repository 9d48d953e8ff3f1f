import type { Node, Pod } from 'kubernetes-types/core/v1.d.ts';
import { type AnyDaemonSet, hashIn, isLive, nodeOf } from '../../invariants/index.ts';
import type { Call } from '../../simulation/network/call.ts';
import type { Check, CheckContext } from '../check.ts';
import { isEligible, isPodOf } from '../state/cluster-state.ts';
import type { PlanState } from '../state/follow-plan.ts';
import { tolerances } from '../tolerances.ts';
import { createCreationRule } from './creations.ts';
import type { Knowledge } from './knowledge.ts';
import type { ProcessKnowledge } from './process-knowledge.ts';

export interface ClosedStagesOptions {
  plan: PlanState;
  knowledge: ProcessKnowledge;
  /** Nodes with an update of the present rollout in flight. */
  inFlight: () => Iterable<string>;
  /** A process that could not know that the node ran the target creates an older pod there. */
  goesBack: (node: string) => void;
}

/** G9, S14: the revision of a pod that a manager creates where there is none, by what it has observed. */
export const createClosedStagesCheck = (
  { report, actual, now, daemonSet, viewOf }: CheckContext,
  { plan, knowledge, inFlight, goesBack }: ClosedStagesOptions,
) => {
  const rule = createCreationRule({ plan, state: actual, check: report.check });
  /** By process: nodes and the revisions of pods that it has seen there. */
  const seen = new Map<string, Set<string>>();
  const sees = (process: string, pod: Pod | undefined): void => {
    if (!isPodOf(pod, daemonSet)) return;
    const pods = seen.get(process) ?? new Set<string>();
    seen.set(process, pods.add(`${nodeOf(pod ?? {})} ${hashIn(pod)}`));
  };
  /** A node that leaves starts anew when it comes back. */
  const seesNode = (process: string, node: Node): void => {
    if (isEligible(node, viewOf(process).daemonSet)) return;
    const pods = seen.get(process);
    for (const pod of pods ?? []) if (pod.startsWith(`${node.metadata?.name} `)) pods?.delete(pod);
  };
  /** The sender of a call knew the present version of the DaemonSet when it sent it. */
  const isPresent = new WeakSet<Call>();
  /** Names of revisions that somebody has asked to be deleted, and those that are gone all the same. */
  const deletedByManagers = new Set<string>();
  const gone = new Set<string>();
  /** Versions of the DaemonSet, by when they arrived. */
  const versions: { at: number; version: AnyDaemonSet }[] = [];

  const knowledgeOf = (call: Call): Knowledge => {
    const known = knowledge.of(call);
    return plan.isStaged() ? known : { ...known, plans: ['none'] };
  };
  const versionsFor = (call: Call): AnyDaemonSet[] => {
    const { daemonSet: known } = viewOf(call.process);
    const recent = versions.findLastIndex(({ at }) => at <= call.at - tolerances.userChange.ms);
    return [...versions.slice(Math.max(0, recent)).map(({ version }) => version), ...(known ? [known] : [])];
  };
  const hasTarget = (call: Call, node: string): boolean =>
    seen.get(call.process)?.has(`${node} ${actual.target}`) === true ||
    [...inFlight()].includes(node) ||
    (plan.status?.reservations ?? []).some((each) => each.node === node);

  return {
    check: {
      onWatchEvent(process, _watch, plural, event) {
        if (event.type === 'BOOKMARK') return;
        if (plural === 'pods') sees(process, event.object);
        if (plural === 'nodes') seesNode(process, event.object);
      },
      onResponse({ process, resource }, object) {
        if (resource?.plural === 'pods') sees(process, object as Pod);
      },
      onSend(call) {
        const { verb, resource, process, ref } = call;
        if (verb === 'delete' && resource?.plural === 'controllerrevisions') deletedByManagers.add(ref?.name ?? '');
        if (knowledge.isAbout(viewOf(process).daemonSet)) isPresent.add(call);
      },
      onCommit({ type, resource, object }) {
        const { name } = object.metadata;
        if (resource.plural === 'controllerrevisions' && type === 'DELETED' && !deletedByManagers.has(name))
          gone.add(name);
        if (resource.plural === 'controllerrevisions' && type === 'ADDED') gone.delete(name);
        const present = actual.daemonSet;
        if (resource.plural === 'daemonsets' && present && versions.at(-1)?.version !== present)
          versions.push({ at: now(), version: present });
      },
    } satisfies Check,
    /** The next pod of the node may be of an older revision. */
    mayBeHeld: (call: Call, node: string): boolean =>
      rule.mayBeHeld({ node, known: knowledgeOf(call), versions: versionsFor(call) }),
    /** A pod is created on a node that has none. Returns what to run once it was executed. */
    begin(call: Call, node: string, what: string): () => void {
      const hash = hashIn(call.body as Pod);
      if (hash === undefined || !isPresent.has(call) || !knowledge.isAbout(viewOf(call.process).daemonSet))
        return () => undefined;
      const ran = hasTarget(call, node);
      if (hash !== actual.target && !ran) goesBack(node);
      const found = rule.judge({
        hash,
        node,
        known: knowledgeOf(call),
        versions: versionsFor(call),
        hasTarget: ran,
        isRest: [...actual.nodes.values()].every(
          ({ name, ready, eligible }) =>
            name === node ||
            !ready ||
            !eligible ||
            actual
              .podsOn(name)
              .filter(isLive)
              .every((pod) => pod.hash === actual.target),
        ),
        isInHistory: (name) => !gone.has(name),
      });
      return () => report.finding(found, what);
    },
  };
};
