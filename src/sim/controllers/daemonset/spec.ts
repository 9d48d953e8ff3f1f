import {
  fromLabelSelector,
  type NodeInfo,
  nodeShouldRunDaemonPod,
  type SchedulingConstraints,
  type Selector,
  schedulingConstraints,
} from '../../../rollout/index.ts';
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

export interface Placement {
  shouldRun: boolean;
  shouldContinueRunning: boolean;
}

/** What is worked out once per template and asked for each node. */
export interface ParsedSpec {
  readonly uid: string;
  readonly selector: Selector;
  /** Of any pod at all: the controller keeps away from such a DaemonSet. */
  readonly selectsAll: boolean;
  placementOn(node: NodeInfo): Placement;
}

const needsOf = ({ spec }: StoredDaemonSet): SchedulingConstraints =>
  schedulingConstraints(spec?.template.spec ?? { containers: [] });

const toProfile = (daemonSet: StoredDaemonSet): ParsedSpec => {
  const needs = needsOf(daemonSet);
  const source = daemonSet.spec?.selector;
  const parsed = fromLabelSelector(source);
  const placements = new WeakMap<NodeInfo, Placement>();
  return {
    uid: daemonSet.metadata.uid,
    selector: parsed.ok ? parsed.selector : [],
    selectsAll: !parsed.ok || (source !== undefined && parsed.selector.length === 0),
    placementOn(node) {
      let found = placements.get(node);
      if (!found) {
        found = nodeShouldRunDaemonPod(needs, node);
        placements.set(node, found);
      }
      return found;
    },
  };
};

/** Profiles by the DaemonSet's key; a new one when the template or the selector may have changed. */
export const createSpecCache = () => {
  const known = new Map<string, { generation: number | undefined; profile: ParsedSpec }>();
  return {
    of(key: string, daemonSet: StoredDaemonSet): ParsedSpec {
      const { generation, uid } = daemonSet.metadata;
      const found = known.get(key);
      if (found?.generation === generation && found?.profile.uid === uid) return found.profile;
      const profile = toProfile(daemonSet);
      known.set(key, { generation, profile });
      return profile;
    },
    forget: (key: string): void => void known.delete(key),
  };
};
