import { livePod } from './pods.ts';
import type { Context, NodeRecord } from './record.ts';

/** The node's pod was updated in place in this rollout and has not been available since; its update may only be reserved. */
export const isUpdatedInPlace = (record: NodeRecord, { rollout }: Pick<Context, 'rollout'>): boolean => {
  const { update } = record;
  const last = update?.stage === 'done' ? update : update?.repairs;
  return last?.kind === 'in-place' && last.rollout === rollout && last.podUid === livePod(record)?.facts.uid;
};

/** Its one live pod is out of service for an in-place update. */
export const isOutOfService = (record: NodeRecord): boolean => livePod(record)?.facts.updatingInPlace === true;
