import type { StoredDaemonSet } from '../../resources.ts';

// Percentages are rounded up, as for both limits of a DaemonSet.
const scaled = (value: number | string | undefined, total: number): number => {
  if (value === undefined) return 0;
  if (typeof value === 'number') return value;
  const percent = /^(\d+)%$/.exec(value)?.[1];
  return percent === undefined ? 0 : Math.ceil((Number(percent) * total) / 100);
};

const rollingUpdate = ({ spec }: StoredDaemonSet) =>
  spec?.updateStrategy?.type === 'OnDelete' ? undefined : spec?.updateStrategy?.rollingUpdate;

export const isOnDelete = ({ spec }: StoredDaemonSet): boolean => spec?.updateStrategy?.type === 'OnDelete';

/** More than one pod on a node for a while. */
export const allowsSurge = (daemonSet: StoredDaemonSet): boolean => scaled(rollingUpdate(daemonSet)?.maxSurge, 1) > 0;

/** How many nodes of `desired` may be without, or with a second pod. */
export const rollingUpdateLimits = (
  daemonSet: StoredDaemonSet,
  desired: number,
): { maxSurge: number; maxUnavailable: number } => {
  const rolling = rollingUpdate(daemonSet);
  const maxSurge = scaled(rolling?.maxSurge, desired);
  const maxUnavailable = scaled(rolling?.maxUnavailable, desired);
  return { maxSurge, maxUnavailable: desired > 0 && maxSurge === 0 && maxUnavailable === 0 ? 1 : maxUnavailable };
};
