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
    'Who updates the nodes: the controller (auto), their owners (ota) or who deletes pods (manual).',
  ),
  column('Target', '.status.target.hash', 'Hash of the revision that the nodes are brought to.'),
  countColumn('Desired', '.status.nodes.eligible', 'Nodes that the DaemonSet runs on.'),
  countColumn('Updated', '.status.nodes.updated', 'Online nodes that are at the target.'),
  countColumn('Updating', '.status.nodes.updating', 'Online nodes on their way to the target.'),
  countColumn('Offline', '.status.nodes.offline', 'Nodes that are not Ready.'),
  countColumn('Failed', '.status.nodes.failed', 'Online nodes on which the target does not work.'),
  column('Status', '.status.summary', 'Where the rollout stands.'),
  { ...column('Age', '.metadata.creationTimestamp', 'Since when the rollout is looked after.'), type: 'date' },
  wide(column('Budget', '.status.budget.maxUnavailable', 'How many nodes may be down at once.')),
  wide(countColumn('Held', '.status.nodes.held', 'Nodes kept on an older revision.')),
];

/** `daemonrollouts.edgeset.io`, as `kubectl apply` takes it. */
export const daemonRolloutCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  // With the CRD every rollout's memory would go: its reserved slots, its failures and what it may roll back to.
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
              'The state of the rollout of one DaemonSet. It is made, named and owned by its DaemonSet, and has no ' +
              'spec: what is wanted is said by the DaemonSet and its annotations.',
            properties: {
              apiVersion: { type: 'string', description: 'Version of the schema that this object is written in.' },
              kind: { type: 'string', description: 'What this object is.' },
              // The API server describes it itself, and refuses a description here.
              metadata: { type: 'object' },
              status: daemonRolloutStatusSchema,
            },
          },
        },
      },
    ],
  },
} satisfies CustomResourceDefinition;
