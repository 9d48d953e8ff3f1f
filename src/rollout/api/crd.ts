import type { CustomResourceColumnDefinition, CustomResourceDefinition } from 'kubernetes-types/apiextensions/v1.d.ts';
import { crdMetadata } from './crd-schema.ts';
import { daemonRolloutStatusSchema } from './crd-status.ts';
import { daemonRolloutApi as api } from './types.ts';

const column = (name: string, jsonPath: string, description: string): CustomResourceColumnDefinition => ({
  name,
  type: 'string',
  jsonPath,
  description,
});

const countColumn = (name: string, jsonPath: string, description: string): CustomResourceColumnDefinition => ({
  ...column(name, jsonPath, description),
  type: 'integer',
});

/** Shown by `kubectl get -o wide` only. */
const wide = (definition: CustomResourceColumnDefinition): CustomResourceColumnDefinition => ({
  ...definition,
  priority: 1,
});

const columns: CustomResourceColumnDefinition[] = [
  column(
    'Strategy',
    '.status.strategy',
    'Who updates the nodes: the manager (auto), their owners (ota), or whoever deletes pods (manual).',
  ),
  column('Target', '.status.target.hash', 'Hash of the revision that the nodes are updated to.'),
  countColumn('Desired', '.status.nodes.eligible', 'Nodes that the DaemonSet runs on.'),
  countColumn('Updated', '.status.nodes.updated', 'Online nodes that run the target.'),
  countColumn('Updating', '.status.nodes.updating', 'Online nodes that are being updated.'),
  countColumn('Offline', '.status.nodes.offline', 'Nodes that are not Ready.'),
  countColumn('Failed', '.status.nodes.failed', 'Online nodes on which the target does not work.'),
  column('Status', '.status.summary', 'State of the rollout.'),
  { ...column('Age', '.metadata.creationTimestamp', 'Age of the DaemonRollout.'), type: 'date' },
  wide(column('Budget', '.status.budget.maxUnavailable', 'How many nodes may be down at once.')),
  wide(countColumn('Held', '.status.nodes.held', 'Nodes that are kept on an older revision.')),
];

/** `daemonrollouts.edgeset.io`, as `kubectl apply` takes it. */
export const daemonRolloutCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  // Deleting the CRD deletes the state of every rollout: its reserved slots, its failures and its last complete revision.
  metadata: crdMetadata(api),
  spec: {
    group: api.group,
    scope: 'Namespaced',
    names: {
      kind: api.kind,
      listKind: api.listKind,
      plural: api.plural,
      singular: api.singular,
      shortNames: [api.shortName],
      categories: [api.category],
    },
    versions: [
      {
        name: api.version,
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: columns,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description:
              'The state of the rollout of one DaemonSet, which has the same name and owns it. It has no spec: the DaemonSet ' +
              'and its annotations say what is wanted.',
            properties: {
              apiVersion: { type: 'string', description: 'Version of the schema that this object is written in.' },
              kind: { type: 'string', description: 'What this object is.' },
              // The API server has its own description, and refuses one here.
              metadata: { type: 'object' },
              status: daemonRolloutStatusSchema,
            },
          },
        },
      },
    ],
  },
} satisfies CustomResourceDefinition;
