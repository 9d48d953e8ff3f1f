import type { Pod } from 'kubernetes-types/core/v1.d.ts';

/**
 * Condition of a pod: its owner agreed to the revision that the message names. The agent writes it where it may not take
 * the pod away itself, and the manager acts on it.
 */
export const UPGRADE_APPROVED = 'UpgradeApproved';

/** As the condition of a revision has it, without the message of any detail after it. */
const MESSAGE = /^controllerrevision: ([^;\s]+)(?:;|$)/;

/** Hash label of the revision that the pod's owner agreed to; undefined for none. */
export const approvedRevision = (pod: Pod): string | undefined => {
  const found = pod.status?.conditions?.find(({ type }) => type === UPGRADE_APPROVED);
  return found?.status === 'True' ? MESSAGE.exec(found.message ?? '')?.[1] : undefined;
};
