import { plainText } from '../text/index.ts';

/** Names of the API resource. */
export const daemonRolloutApi = {
  group: 'edgeset.io',
  version: 'v1alpha1',
  apiVersion: 'edgeset.io/v1alpha1',
  kind: 'DaemonRollout',
  plural: 'daemonrollouts',
  singular: 'daemonrollout',
  shortName: 'dro',
  category: 'edgeset',
} as const;

/** Ends the name of the DaemonRollout of an Advanced DaemonSet: the kinds share one namespace of names. */
export const ADVANCED_ROLLOUT_SUFFIX = '.apps.kruise.io';

/** Field manager of everything that the manager writes. */
export const FIELD_MANAGER = 'edgeset-manager';

/**
 * The schema's limits on the items of a list and the characters of a text. The API server refuses a whole status that
 * exceeds one of them, so writers truncate it first.
 */
export const daemonRolloutLimits = {
  /** etcd limits an object to 1.5 MiB: 5000 reservations fit with node names of 40 characters, 3000 with 63. */
  reservations: 3000,
  forgiven: 3000,
  causes: 64,
  failing: 10,
  stragglers: 10,
  asked: 10,
  haltedNodes: 10,
  conditions: 16,
  /** Rollouts in the history. With the longest names and images, each has 9 KiB without stages, and usually a tenth of that. */
  history: 20,
  /** Images of one revision in the history. */
  images: 8,
  image: 512,
  /** The API server's own limit. */
  fieldManager: 128,
  operation: 32,
  /** Notifications that are told once for each rollout: six kinds, and two for each stage. */
  sent: 64,
  /** Notifications that are still to be sent; the oldest make room. */
  notifications: 16,
  /** Targets of one notification. */
  targets: 16,
  /** Those of a plan, and the one of all other nodes. */
  stages: 21,
  /** Name of a user. */
  user: 512,
  /** Characters of a comment that the history keeps: it has one for each stage of 20 rollouts. */
  comment: 256,
  /** Names of nodes, pods and revisions. */
  name: 253,
  hash: 63,
  summary: 256,
  message: 1024,
  /** `resumed`. */
  consent: 512,
} as const;

export const cut = (text: string, most: number = daemonRolloutLimits.message): string => {
  const plain = plainText(text);
  return plain.length <= most ? plain : `${plain.slice(0, most - 1)}\u2026`;
};
