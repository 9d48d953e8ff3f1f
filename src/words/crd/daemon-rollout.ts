import type { CustomResourceColumnDefinition } from 'kubernetes-types/apiextensions/v1.d.ts';
import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';
import { daemonRolloutApi } from '../daemon-rollout.ts';
import { ageColumn, column, countColumn, defineCrd, wide } from './definition.ts';
import { type DaemonRolloutStatus, daemonRolloutStatusSchema } from './status.ts';

/**
 * The state of one DaemonSet's rollout, named like the DaemonSet and owned by it. It has no spec: the DaemonSet and its
 * annotations say what is wanted.
 */
export interface DaemonRollout {
  apiVersion: typeof daemonRolloutApi.apiVersion;
  kind: typeof daemonRolloutApi.kind;
  metadata: ObjectMeta;
  status?: DaemonRolloutStatus;
}

const columns: CustomResourceColumnDefinition[] = [
  column(
    'Strategy',
    '.status.strategy',
    'Who updates the nodes: the manager (auto), their owners (ota), or users who delete pods (manual).',
  ),
  column('Target', '.status.target.hash', 'Hash of the revision that the nodes are updated to.'),
  countColumn('Desired', '.status.nodes.eligible', 'Nodes that the DaemonSet runs on.'),
  countColumn('Updated', '.status.nodes.updated', 'Online nodes that run the target.'),
  countColumn('Updating', '.status.nodes.updating', 'Online nodes that are being updated.'),
  countColumn('Offline', '.status.nodes.offline', 'Nodes that are not Ready.'),
  countColumn('Failed', '.status.nodes.failed', 'Online nodes on which the target does not work.'),
  column('Status', '.status.summary', 'State of the rollout.'),
  ageColumn('Age of the DaemonRollout.'),
  wide(column('Budget', '.status.budget.maxUnavailable', 'How many nodes may be down at once.')),
  wide(countColumn('Held', '.status.nodes.held', 'Nodes that are kept on an older revision.')),
];

/**
 * `daemonrollouts.edgeset.io`. Deleting it deletes the state of every rollout: its reserved slots, its failures and its last
 * complete revision.
 */
export const daemonRolloutCrd = defineCrd({
  scope: 'Namespaced',
  names: daemonRolloutApi,
  description:
    'The state of the rollout of one DaemonSet, which has the same name and owns it. It has no spec: the DaemonSet ' +
    'and its annotations say what is wanted.',
  columns,
  properties: { status: daemonRolloutStatusSchema },
});
