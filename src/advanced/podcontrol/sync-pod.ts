import type { ReconcilerContext, WriteOutcome } from '../../controller/index.ts';
import { isStale } from '../../rollout/index.ts';
import type { AdvancedView } from '../advanced-view.ts';
import { cancelDelete } from '../lifecycle/pre-delete.ts';
import type { CurrentRevision } from '../revisions/sync-history.ts';
import type { CachedPod } from './cached-pod.ts';
import { type Destination, type PodUpdates, versionOf } from './pod-updates.ts';
import type { PodWriter } from './pod-writer.ts';
import { initialGatePatch, unsetGates } from './readiness-gates.ts';

export interface PodSyncOptions extends Pick<ReconcilerContext<AdvancedView, CachedPod>, 'env' | 'ledger' | 'events'> {
  updates: PodUpdates;
  writer: PodWriter;
}

const NEVER = Number.POSITIVE_INFINITY;

type Write = (signal: AbortSignal) => Promise<WriteOutcome>;
/** What a pod needs: a write, to be looked at again at a time, or whenever somebody else is through with it. */
type Need = { write: Write; failed?: (reason: string, message: string) => void } | { at: number } | 'others';

/** What single pods need that are there and stay: adoption, their gates, the further steps in place, a hook taken back. */
export const createPodSync = ({ env, ledger, events, updates, writer }: PodSyncOptions) => {
  const { clock } = env;
  const adopt = (view: AdvancedView, kept: CachedPod): Write => {
    const { apiVersion, name, uid } = view;
    const reference = { apiVersion, kind: 'DaemonSet', name, uid, controller: true, blockOwnerDeletion: true };
    const { podUid, podResourceVersion } = versionOf(kept);
    const ownerReferences = [...(kept.pod.metadata?.ownerReferences ?? []), reference];
    const body = { metadata: { uid: podUid, resourceVersion: podResourceVersion, ownerReferences } };
    return (signal) => updates.patch(versionOf(kept), { kind: 'pod', body }, signal);
  };

  /**
   * Where a pod is brought to that is out of service for a change in place, and of no open act: to the end of what it says
   * that it is. One that was only prepared for a change is put back into service so.
   */
  const destinationOf = ({ facts }: CachedPod, known: CurrentRevision): Destination | undefined => {
    const record = ledger.get(facts.node);
    const behind = record !== undefined && isStale(record, { facts });
    return facts.updatingInPlace && !behind ? { revision: facts.revision, known } : undefined;
  };

  const inPlace = (kept: CachedPod, known: CurrentRevision): Need | undefined => {
    const destination = destinationOf(kept, known);
    if (!destination) return undefined;
    const step = updates.stepFor(kept, destination);
    if (step.kind === 'done') return undefined;
    if (step.kind === 'wait') return { at: step.until };
    const { name, node } = kept.facts;
    if (step.kind === 'stuck') {
      events.podWriteRefused('change', name, node, 'Stuck', step.why);
      return { at: NEVER };
    }
    return {
      write: (signal) => updates.write(kept, step, signal),
      failed: (reason, message) => events.podWriteRefused('change', name, node, reason, message),
    };
  };

  /** The rollout is about to take it away: in an act that is not carried out yet, or as the old one of two. */
  const isOnItsWayOut = ({ facts }: CachedPod): boolean => {
    const record = ledger.get(facts.node);
    const { update } = record ?? {};
    return (update?.podUid === facts.uid && update.stage !== 'done') || record?.status.surgedOutPod?.uid === facts.uid;
  };

  const needOf = (
    view: AdvancedView,
    kept: CachedPod,
    known: CurrentRevision | undefined,
    removing: boolean,
  ): Need | undefined => {
    const { ownership, facts, pod } = kept;
    if (ownership === 'native' || facts.terminating) return undefined;
    if (ownership === 'orphan') return { write: adopt(view, kept) };
    const isActs = !removing && isOnItsWayOut(kept);
    // An act in place shuts the gate first, and this write would open it again, whatever version the pod has by then.
    if (!isActs && unsetGates(pod).length > 0) {
      const body = initialGatePatch(pod, clock.now());
      return { write: (signal) => updates.patch(versionOf(kept), { kind: 'status', body }, signal) };
    }
    if (removing) return undefined;
    if (isActs) return 'others';
    // Back from its hook first: a change in place that never ends would keep it there, and while it is there nobody acts on it.
    const back = cancelDelete(pod, clock.now());
    if (back) return { write: (signal) => updates.patch(versionOf(kept), back, signal) };
    return known && inPlace(kept, known);
  };

  /** When to look at the pod again; undefined: at the next pass. */
  const attend = (kept: CachedPod, need: Need | undefined): number | undefined => {
    if (need === undefined) return NEVER;
    if (need === 'others') return undefined;
    if ('at' in need) return need.at;
    const turn = writer.turnOf(kept);
    if (turn > clock.now()) return turn;
    writer.launch(kept, need.write, (outcome) => {
      if (outcome.kind === 'refused' && outcome.reason !== undefined) need.failed?.(outcome.reason, outcome.message);
    });
    return undefined;
  };

  /** Once for each pod, however often the scheduler tries. */
  const tellPlacement = ({ ownership, facts: { uid, name, node, unbound, terminating, detail } }: CachedPod): void => {
    if (ownership !== 'ours' || !unbound || terminating || detail === '') return;
    const beside = ledger.get(node)?.pods.some(({ facts }) => facts.uid !== uid && !facts.terminating);
    const where = `${node}${beside ? ', beside the pod that is there' : ''}`;
    events.warnOnce(`place ${uid}`, 'FailedPlacement', 'Place', `Pod ${name} has no place on ${where}: ${detail}.`);
  };

  return {
    /** Begins what a pod needs. Resolves to when to look at it again; undefined: at the next pass. */
    tend(
      view: AdvancedView,
      kept: CachedPod,
      known: CurrentRevision | undefined,
      removing: boolean,
    ): number | undefined {
      tellPlacement(kept);
      return attend(kept, needOf(view, kept, known, removing));
    },
    /** The same while nothing new is begun: a pod that was taken out of service to be changed comes back into it. */
    finish(kept: CachedPod, known: CurrentRevision): number | undefined {
      if (kept.ownership !== 'ours' || kept.facts.terminating) return NEVER;
      return attend(kept, isOnItsWayOut(kept) ? 'others' : inPlace(kept, known));
    },
  };
};
export type PodSync = ReturnType<typeof createPodSync>;
