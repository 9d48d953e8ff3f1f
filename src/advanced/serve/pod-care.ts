import { createAir, createPacing, FIELD_MANAGER, type Outcome, type Surroundings } from '../../controller/index.ts';
import { isKubeError } from '../../kube/index.ts';
import { pods as podResource } from '../../resources/index.ts';
import { controllerOf } from '../../rollout/index.ts';
import type { AdvancedView } from '../advanced-view.ts';
import { cancelDelete } from '../lifecycle/index.ts';
import { firstGatePatch, gatesToOpen } from '../pods/index.ts';
import type { Chores } from './chores.ts';
import { type Deeds, type Destination, versionOf } from './deeds.ts';
import type { KeptPod } from './kept-pod.ts';
import type { KnownRevision } from './revision-keeper.ts';

export interface PodCareOptions
  extends Pick<Surroundings<AdvancedView, KeptPod>, 'client' | 'env' | 'ledger' | 'teller' | 'wake'> {
  deeds: Deeds;
  chores: Chores;
}

const NEVER = Number.POSITIVE_INFINITY;
const TIMEOUT_MS = 10_000;
/** Replicas that do not lead look after nobody: what they note is bounded. */
const MOST_LOST = 500;

type Write = (signal: AbortSignal) => Promise<Outcome>;
/** What a pod needs: a write, to be looked at again at a time, or whenever somebody else is through with it. */
type Need = { write: Write; failed?: (reason: string, message: string) => void } | { at: number } | 'others';

/** What single pods need that are there and stay: adoption, their gates, the further steps in place, a hook taken back. */
export const createPodCare = ({ client, env, ledger, teller, wake, deeds, chores }: PodCareOptions) => {
  const { clock, log } = env;
  /** Pods that the watch shows no more, by UID: their names. */
  const lost = new Map<string, string>();
  const pacing = createPacing();
  const releases = createAir({
    clock,
    most: 4,
    ended: wake,
    failed(uid, error) {
      log.warn('a pod that the selector matches no more could not be looked after', { uid, error });
      pacing.failed(uid, clock.now());
    },
  });

  const adopt = (view: AdvancedView, kept: KeptPod): Write => {
    const { apiVersion, name, uid } = view;
    const reference = { apiVersion, kind: 'DaemonSet', name, uid, controller: true, blockOwnerDeletion: true };
    const { podUid, podResourceVersion } = versionOf(kept);
    const ownerReferences = [...(kept.pod.metadata?.ownerReferences ?? []), reference];
    const body = { metadata: { uid: podUid, resourceVersion: podResourceVersion, ownerReferences } };
    return (signal) => deeds.patch(versionOf(kept), { kind: 'pod', body }, signal);
  };

  /**
   * Where a pod is brought to that is out of service for a change in place, and of no open act: to the end of what it says
   * that it is. One that was only prepared for a change is put back into service so.
   */
  const destinationOf = ({ facts }: KeptPod, known: KnownRevision): Destination | undefined => {
    const act = ledger.get(facts.node)?.act;
    // The watch is behind the write that changed its revision.
    const behind = act?.kind === 'in-place' && act.podUid === facts.uid && act.podRevision === facts.revision;
    return facts.changing && !behind ? { revision: facts.revision, known } : undefined;
  };

  const inPlace = (kept: KeptPod, known: KnownRevision): Need | undefined => {
    const destination = destinationOf(kept, known);
    if (!destination) return undefined;
    const step = deeds.stepFor(kept, destination);
    if (step.kind === 'done') return undefined;
    if (step.kind === 'wait') return { at: step.until };
    const { name, node } = kept.facts;
    if (step.kind === 'stuck') {
      teller.refused('change', name, node, 'Stuck', step.why);
      return { at: NEVER };
    }
    return {
      write: (signal) => deeds.write(kept, step, signal),
      failed: (reason, message) => teller.refused('change', name, node, reason, message),
    };
  };

  const needOf = (
    view: AdvancedView,
    kept: KeptPod,
    known: KnownRevision | undefined,
    removing: boolean,
  ): Need | undefined => {
    const { standing, facts, pod } = kept;
    if (standing === 'native' || facts.terminating) return undefined;
    if (standing === 'orphan') return { write: adopt(view, kept) };
    if (gatesToOpen(pod).length > 0) {
      const body = firstGatePatch(pod, clock.now());
      return { write: (signal) => deeds.patch(versionOf(kept), { kind: 'status', body }, signal) };
    }
    if (removing) return undefined;
    const act = ledger.get(facts.node)?.act;
    if (act?.podUid === facts.uid && act.stage !== 'done') return 'others';
    const way = known && inPlace(kept, known);
    if (way) return way;
    const back = cancelDelete(pod, clock.now());
    return back && { write: (signal) => deeds.patch(versionOf(kept), back, signal) };
  };

  const release = async ({ namespace, uid }: AdvancedView, name: string, podUid: string, signal: AbortSignal) => {
    try {
      const pod = await client.get(podResource, { namespace, name }, { timeoutMs: TIMEOUT_MS, signal });
      const { metadata = {} } = pod;
      if (metadata.uid !== podUid || controllerOf(pod)?.uid !== uid || metadata.deletionTimestamp) return;
      const ownerReferences = metadata.ownerReferences?.filter((owner) => owner.uid !== uid) ?? [];
      const { resourceVersion } = metadata;
      await client.patch(
        podResource,
        { namespace, name },
        { metadata: { uid: podUid, resourceVersion, ownerReferences } },
        { type: 'merge', fieldManager: FIELD_MANAGER, timeoutMs: TIMEOUT_MS, signal },
      );
      log.info('a pod whose labels the selector does not match any more was released', { pod: name });
    } catch (error) {
      if (!isKubeError(error, 'NotFound', 'Conflict')) throw error;
    }
  };

  return {
    /** Begins what a pod needs. Resolves to when to look at it again; undefined: at the next pass. */
    tend(view: AdvancedView, kept: KeptPod, known: KnownRevision | undefined, removing: boolean): number | undefined {
      const need = needOf(view, kept, known, removing);
      if (need === undefined) return NEVER;
      if (need === 'others') return undefined;
      if ('at' in need) return need.at;
      const turn = chores.turnOf(kept);
      if (turn > clock.now()) return turn;
      chores.launch(kept, need.write, (outcome) => {
        if (outcome.kind === 'refused' && outcome.reason !== undefined) need.failed?.(outcome.reason, outcome.message);
      });
      return undefined;
    },
    /** The watch shows the pod no more. One that was not ending may have got other labels. */
    lost({ standing, facts }: KeptPod): void {
      if (standing !== 'ours' || facts.terminating) return;
      const [eldest] = lost.keys();
      if (lost.size >= MOST_LOST && eldest !== undefined) lost.delete(eldest);
      lost.set(facts.uid, facts.name);
    },
    /** Lets pods go that the selector does not match any more. When to be called again, epoch ms; Infinity for never. */
    releaseLost(view: AdvancedView): number {
      let nextAt = NEVER;
      for (const [uid, name] of lost) {
        const turn = pacing.until(uid, clock.now());
        if (turn > clock.now()) nextAt = Math.min(nextAt, turn);
        else
          releases.launch(uid, async (signal) => {
            await release(view, name, uid, signal);
            lost.delete(uid);
            pacing.succeeded(uid);
          });
      }
      return nextAt;
    },
    stop: (graceMs: number): Promise<void> => releases.stop(graceMs),
  };
};
export type PodCare = ReturnType<typeof createPodCare>;
