import { livePod } from './pods.ts';
import type { Context, NodeRecord } from './record.ts';
import { isCarriedOut } from './update.ts';

/** The node's pod was updated in place in this rollout and has not been available since; its update may only be reserved. */
export const isUpdatedInPlace = (record: NodeRecord, { rollout }: Pick<Context, 'rollout'>): boolean => {
  const { update } = record;
  const last = update && isCarriedOut(update) ? update : update?.repairs;
  return last?.kind === 'in-place' && last.rollout === rollout && last.podUid === livePod(record)?.facts.uid;
};

/** Shorter than a lease: no other process leads so soon after a write of the leader. */
const GOES_ON_MS = 5_000;

/** Its one live pod is out of service for an in-place update. */
export const isOutOfService = (record: NodeRecord): boolean => livePod(record)?.facts.updatingInPlace === true;

/**
 * The version of the pod that the node's update is bound to. After its first write, an in-place update continues in any
 * version without another reservation: until a further write, the pod is out of service, so the node keeps its slot.
 */
export const boundVersion = (record: NodeRecord, now: number): string | undefined => {
  const { update } = record;
  const since = now - (update?.begunAt ?? Number.NEGATIVE_INFINITY);
  const goesOn = since >= 0 && since <= GOES_ON_MS && isOutOfService(record);
  return goesOn ? livePod(record)?.facts.resourceVersion : update?.podResourceVersion;
};
