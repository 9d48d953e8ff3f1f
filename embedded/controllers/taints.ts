import type { NodeCondition, Taint } from 'kubernetes-types/core/v1.d.ts';

/** The namespace of node leases. */
export const NODE_LEASES = 'kube-node-lease';

const PREFIX = 'node.kubernetes.io/';

/** The taint of each node condition, by the condition's status. */
const TAINT_OF: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Ready: { False: 'not-ready', Unknown: 'unreachable' },
  MemoryPressure: { True: 'memory-pressure' },
  DiskPressure: { True: 'disk-pressure' },
  PIDPressure: { True: 'pid-pressure' },
  NetworkUnavailable: { True: 'network-unavailable' },
};

const UNSCHEDULABLE = `${PREFIX}unschedulable`;
const OWN = new Set([
  UNSCHEDULABLE,
  ...Object.values(TAINT_OF).flatMap((byStatus) => Object.values(byStatus).map((name) => PREFIX + name)),
]);

/** Keys of the taints that a node's conditions call for. */
export const conditionTaints = (conditions: readonly NodeCondition[], unschedulable: boolean): string[] => [
  ...conditions.flatMap(({ type, status }) => {
    const name = TAINT_OF[type]?.[status];
    return name === undefined ? [] : [PREFIX + name];
  }),
  ...(unschedulable ? [UNSCHEDULABLE] : []),
];

/**
 * The node's taints with exactly `wanted` of this controller's taints with this effect; undefined when nothing changes.
 */
export const withTaints = (
  present: readonly Taint[],
  effect: Taint['effect'],
  wanted: readonly string[],
  now: string,
): object[] | undefined => {
  const isOwn = (taint: Taint): boolean => taint.effect === effect && OWN.has(taint.key);
  const missing = wanted.filter((key) => !present.some((taint) => taint.effect === effect && taint.key === key));
  const stale = present.filter((taint) => isOwn(taint) && !wanted.includes(taint.key));
  if (missing.length === 0 && stale.length === 0) return undefined;
  return [
    ...missing.map((key) => ({ key, effect, timeAdded: now })),
    ...present.filter((taint) => !stale.includes(taint)),
  ];
};
