import {
  type DaemonNeeds,
  daemonNeeds,
  fromLabelSelector,
  type NodeView,
  placement,
  type Selector,
} from '../../../rollout/index.ts';
import type { StoredDaemonSet } from '../../resources.ts';

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
  placementOn(node: NodeView): Placement;
}

const needsOf = ({ spec }: StoredDaemonSet): DaemonNeeds => daemonNeeds(spec?.template.spec ?? { containers: [] });

const toProfile = (daemonSet: StoredDaemonSet): ParsedSpec => {
  const needs = needsOf(daemonSet);
  const source = daemonSet.spec?.selector;
  const parsed = fromLabelSelector(source);
  const placements = new WeakMap<NodeView, Placement>();
  return {
    uid: daemonSet.metadata.uid,
    selector: parsed.ok ? parsed.selector : [],
    selectsAll: !parsed.ok || (source !== undefined && parsed.selector.length === 0),
    placementOn(node) {
      let found = placements.get(node);
      if (!found) {
        found = placement(needs, node);
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
