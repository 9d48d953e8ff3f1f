import type { Stage } from '../stage.ts';
import type { Witness } from '../witness.ts';

/** `2 pods`, `1 pod`. */
export const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

const MOST_NAMES = 4;

/** `shop-01, shop-22 and 34 more`. */
export const some = (names: readonly string[]): string =>
  names.length <= MOST_NAMES
    ? names.join(', ')
    : `${names.slice(0, MOST_NAMES - 1).join(', ')} and ${names.length - MOST_NAMES + 1} more`;

/** Nodes whose one pod is of `image` and up. */
export const upOn = ({ meter }: Witness, image: string): Set<string> =>
  new Set([...meter.pods()].filter((pod) => pod.up && pod.image === image).map((pod) => pod.node));

/** UID of the pod on each of the nodes; a pod that is ending has another one, so that it never counts as left alone. */
export const podUids = ({ meter }: Witness, nodes: readonly string[]): Map<string, string> =>
  new Map(
    nodes.map((node) => {
      const own = [...meter.pods()].filter((pod) => pod.node === node);
      return [node, own.map(({ uid, deleting }) => (deleting ? `${uid} (ending)` : uid)).join(' ')];
    }),
  );

export const differing = (before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] =>
  [...before.keys()].filter((node) => before.get(node) !== after.get(node));

export const online = ({ meter }: Witness, nodes: readonly string[]): string[] =>
  nodes.filter((node) => meter.isOnline(node));

/** What stands on nodes, for a failure's words: `2 with nginx:1.19.5, 1 with nginx:1.19.4 (not ready)`. */
export const inventory = ({ meter }: Witness): string => {
  const kinds = Map.groupBy(
    meter.pods(),
    ({ image, up, deleting }) => `${image}${up ? '' : deleting ? ' (ending)' : ' (not ready)'}`,
  );
  const all = [...kinds].map(([kind, pods]) => `${pods.length} with ${kind}`);
  return all.length === 0 ? 'no pods' : all.join(', ');
};

/** What the rollout object says of the present template; what it said of an older one does not count. */
export const conditionHolds = (witness: Witness, type: string): boolean => {
  const { conditions = [], observedGeneration } = witness.rollout()?.status ?? {};
  return (
    observedGeneration === witness.daemonSet()?.metadata?.generation &&
    conditions.some((condition) => condition.type === type && condition.status === 'True')
  );
};

/** All of `nodes` run `image`. */
export const expectOn = async (stage: Stage, image: string, nodes: readonly string[]): Promise<void> => {
  const { witness } = stage;
  await stage.expect({
    that: `${count(nodes.length, 'node')} to run ${image}`,
    test: () => {
      const up = upOn(witness, image);
      return nodes.every((node) => up.has(node));
    },
    seen: () => `pods on ${count(upOn(witness, image).size, 'node')}: ${inventory(witness)}`,
  });
};

/** Both the nodes' own word and what users read in `kubectl get nodes`. */
export const expectPower = async (stage: Stage, nodes: readonly string[], on: boolean): Promise<void> => {
  const { witness } = stage;
  await stage.expect({
    that: `${nodes.length === 1 ? nodes[0] : count(nodes.length, 'node')} to be ${on ? 'Ready' : 'NotReady'}`,
    test: () => nodes.every((node) => witness.meter.isOnline(node) === on),
    seen: () => {
      const other = nodes.filter((node) => witness.meter.isOnline(node) !== on);
      return `${some(other)} still ${on ? 'NotReady' : 'Ready'}`;
    },
  });
};
