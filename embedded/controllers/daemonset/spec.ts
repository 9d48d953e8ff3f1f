import {
  fromLabelSelector,
  type NodeInfo,
  nodeShouldRunDaemonPod,
  parseIntOrPercent,
  type SchedulingConstraints,
  type Selector,
  scaledValue,
  schedulingConstraints,
} from '../../../src/rollout/index.ts';
import { memoize } from '../../memoize.ts';
import type { StoredDaemonSet } from '../../resources.ts';

// Both limits of a DaemonSet round percentages up.
const scaled = (value: number | string | undefined, total: number): number => {
  if (typeof value !== 'string') return value ?? 0;
  const parsed = parseIntOrPercent(value);
  return parsed?.kind === 'percent' ? scaledValue(parsed, total, 'up') : 0;
};

const rollingUpdate = ({ spec }: StoredDaemonSet) =>
  spec?.updateStrategy?.type === 'OnDelete' ? undefined : spec?.updateStrategy?.rollingUpdate;

export const isOnDelete = ({ spec }: StoredDaemonSet): boolean => spec?.updateStrategy?.type === 'OnDelete';

/** Whether a node may run an old and a new pod at once. */
export const allowsSurge = (daemonSet: StoredDaemonSet): boolean => scaled(rollingUpdate(daemonSet)?.maxSurge, 1) > 0;

/** How many of `desired` nodes may have a second pod, and how many may have none. */
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

/** What the controller derives from a DaemonSet's spec once per generation. */
export interface ParsedSpec {
  readonly uid: string;
  readonly selector: Selector;
  /** Matches every pod, or can't be parsed: the controller ignores such a DaemonSet. */
  readonly selectsAll: boolean;
  placementOn(node: NodeInfo): Placement;
}

const needsOf = ({ spec }: StoredDaemonSet): SchedulingConstraints =>
  schedulingConstraints(spec?.template.spec ?? { containers: [] });

const parseSpec = (daemonSet: StoredDaemonSet): ParsedSpec => {
  const needs = needsOf(daemonSet);
  const source = daemonSet.spec?.selector;
  const parsed = fromLabelSelector(source);
  return {
    uid: daemonSet.metadata.uid,
    selector: parsed.ok ? parsed.selector : [],
    selectsAll: !parsed.ok || (source !== undefined && parsed.selector.length === 0),
    placementOn: memoize((node: NodeInfo) => nodeShouldRunDaemonPod(needs, node)),
  };
};

/** Parsed specs by DaemonSet key, parsed again when the generation changes. */
export const createSpecCache = () => {
  const known = new Map<string, { generation: number | undefined; spec: ParsedSpec }>();
  return {
    of(key: string, daemonSet: StoredDaemonSet): ParsedSpec {
      const { generation, uid } = daemonSet.metadata;
      const found = known.get(key);
      if (found?.generation === generation && found?.spec.uid === uid) return found.spec;
      const spec = parseSpec(daemonSet);
      known.set(key, { generation, spec });
      return spec;
    },
    forget: (key: string): void => void known.delete(key),
  };
};
