import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinitionVersion,
} from 'kubernetes-types/apiextensions/v1.d.ts';
import { crdMetadata } from '../../rollout/index.ts';
import { advancedDaemonSetSpecSchema } from './crd-spec.ts';
import { counter, object, type Schema, text } from './schema.ts';
import { advancedDaemonSetApi as api } from './types.ts';

const numberColumn = (name: string, field: string, description: string): CustomResourceColumnDefinition => ({
  name,
  type: 'integer',
  jsonPath: `.status.${field}`,
  description,
});

/** Shown by `kubectl get -o wide` only. */
const wideColumn = (name: string, jsonPath: string, description: string): CustomResourceColumnDefinition => ({
  name,
  type: 'string',
  jsonPath,
  description,
  priority: 1,
});

const columns: CustomResourceColumnDefinition[] = [
  numberColumn('Desired', 'desiredNumberScheduled', 'Nodes that it is for.'),
  numberColumn('Current', 'currentNumberScheduled', 'Of those, nodes that have a pod.'),
  numberColumn('Ready', 'numberReady', 'Of those, nodes whose pod is ready.'),
  numberColumn('Up-to-date', 'updatedNumberScheduled', 'Of those, nodes whose pod is of the current revision.'),
  numberColumn('Available', 'numberAvailable', 'Of those, nodes whose pod has been ready for minReadySeconds.'),
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'Since when it is there.' },
  wideColumn('Containers', '.spec.template.spec.containers[*].name', 'Names of the containers.'),
  wideColumn('Images', '.spec.template.spec.containers[*].image', 'Images of the containers.'),
];

const condition = object(
  'One aspect of the state.',
  {
    type: text('Which aspect.', 316),
    status: { type: 'string', description: 'Whether it holds.', enum: ['True', 'False', 'Unknown'] },
    reason: text('Why, as one word.', 1024),
    message: text('Why, as a sentence.', 32_768),
    lastTransitionTime: { type: 'string', format: 'date-time', description: 'When the status changed last.' },
    observedGeneration: counter('The generation that it speaks of.', { format: 'int64' }),
  },
  { required: ['type', 'status'] },
);

/** Nothing is required: objects that OpenKruise wrote are taken over as they are. */
const status: Schema = object('What was found.', {
  currentNumberScheduled: counter('Nodes that it is for and that have a pod.'),
  desiredNumberScheduled: counter('Nodes that it is for.'),
  numberMisscheduled: counter('Nodes that have a pod and that it is not for.'),
  numberReady: counter('Nodes that it is for and whose pod is ready.'),
  numberAvailable: counter('Nodes that it is for and whose pod has been ready for minReadySeconds.'),
  numberUnavailable: counter('Nodes that it is for and that have no available pod.'),
  updatedNumberScheduled: counter('Nodes that it is for and whose pod is of the current revision.'),
  observedGeneration: counter('The generation that the rest speaks of.', { format: 'int64' }),
  collisionCount: counter('How often the name of a revision was taken by another one.'),
  updateRevision: text('Hash of the revision that pods are brought to.', 63),
  daemonSetHash: text('The same; older clients read it here.', 63),
  conditions: {
    type: 'array',
    description: 'Where it stands, one condition an aspect.',
    maxItems: 32,
    items: condition,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['type'],
  },
});

const version = (name: (typeof api.versions)[number]): CustomResourceDefinitionVersion => ({
  name,
  served: true,
  storage: name === api.storedVersion,
  subresources: { status: {} },
  additionalPrinterColumns: columns,
  schema: {
    openAPIV3Schema: object(
      'Keeps one pod on every eligible node, and rolls updates out within a budget of its own.',
      {
        apiVersion: { type: 'string', description: 'Version of the schema that this object is written in.' },
        kind: { type: 'string', description: 'What this object is.' },
        // The API server describes it itself, and refuses a description here.
        metadata: { type: 'object' } as Schema,
        spec: advancedDaemonSetSpecSchema,
        status,
      },
      { required: ['spec'] },
    ),
  },
});

/** `daemonsets.apps.kruise.io`, as `kubectl apply` takes it, also over OpenKruise's own definition. */
export const advancedDaemonSetCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  // With the CRD every Advanced DaemonSet and its pods would go.
  metadata: crdMetadata(api),
  spec: {
    group: api.group,
    scope: 'Namespaced',
    names: {
      kind: api.kind,
      listKind: api.listKind,
      plural: api.plural,
      singular: api.singular,
      shortNames: [...api.shortNames],
    },
    // Said in full: left out, the webhook of a definition that this one is applied over would stay, and None beside it
    // is refused.
    conversion: { strategy: 'None', webhook: null },
    versions: api.versions.map(version),
  },
};
