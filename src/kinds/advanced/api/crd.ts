import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinitionVersion,
} from 'kubernetes-types/apiextensions/v1.d.ts';
import { crdMetadata } from '../../../words/index.ts';
import { advancedDaemonSetSpecSchema } from './crd-spec.ts';
import { counter, object, type Schema, text } from './schema.ts';
import { advancedDaemonSetApi as api, MAX_NAME_LENGTH } from './types.ts';

const numberColumn = (name: string, field: string, description: string): CustomResourceColumnDefinition => ({
  name,
  type: 'integer',
  jsonPath: `.status.${field}`,
  description,
});

/** Shown only by `kubectl get -o wide`. */
const wideColumn = (name: string, jsonPath: string, description: string): CustomResourceColumnDefinition => ({
  name,
  type: 'string',
  jsonPath,
  description,
  priority: 1,
});

const columns: CustomResourceColumnDefinition[] = [
  numberColumn('Desired', 'desiredNumberScheduled', 'Number of nodes that should run a pod; not of unreachable ones.'),
  numberColumn('Current', 'currentNumberScheduled', 'Number of those nodes that have a pod.'),
  numberColumn('Ready', 'numberReady', 'Number of those nodes that have a ready pod.'),
  numberColumn(
    'Up-to-date',
    'updatedNumberScheduled',
    'Number of those nodes that have a pod of the current revision.',
  ),
  numberColumn('Available', 'numberAvailable', 'Number of those nodes that have an available pod.'),
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'Time since creation.' },
  wideColumn('Containers', '.spec.template.spec.containers[*].name', 'Names of the containers.'),
  wideColumn('Images', '.spec.template.spec.containers[*].image', 'Images of the containers.'),
];

const condition = object(
  'One aspect of the current state.',
  {
    type: text('Type of the condition.', 316),
    status: { type: 'string', description: 'Status of the condition.', enum: ['True', 'False', 'Unknown'] },
    reason: text('Machine-readable reason.', 1024),
    message: text('Human-readable explanation.', 32_768),
    lastTransitionTime: { type: 'string', format: 'date-time', description: 'Last time the status changed.' },
    observedGeneration: counter('Generation that the condition refers to.', { format: 'int64' }),
  },
  { required: ['type', 'status'] },
);

/** No field is required: the status that OpenKruise wrote stays valid. */
const status: Schema = object('Observed state of the DaemonSet.', {
  currentNumberScheduled: counter('Number of nodes that should run a pod and have one.'),
  desiredNumberScheduled: counter('Number of nodes that should run a pod; not of unreachable ones.'),
  numberMisscheduled: counter('Number of nodes that have a pod and should not, or are unreachable.'),
  numberReady: counter('Number of nodes that should run a pod and have a ready one.'),
  numberAvailable: counter('Number of nodes whose pod has been ready for at least minReadySeconds.'),
  numberUnavailable: counter('Number of nodes that should run a pod and have no available one.'),
  updatedNumberScheduled: counter('Number of nodes that have a pod of the current revision.'),
  observedGeneration: counter('Most recent generation observed by the controller.', { format: 'int64' }),
  collisionCount: counter('Number of hash collisions of revision names.'),
  updateRevision: text('Hash of the current revision.', 63),
  daemonSetHash: text('Same as updateRevision, for older clients.', 63),
  conditions: {
    type: 'array',
    description: 'Conditions Ready, Reconciling and Stalled.',
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
      'Runs one pod on every eligible node and rolls out updates within a budget.',
      {
        apiVersion: { type: 'string', description: 'Versioned schema of this object.' },
        kind: { type: 'string', description: 'Kind of this object.' },
        // The API server adds its own description and refuses one here.
        metadata: { type: 'object' } as Schema,
        spec: advancedDaemonSetSpecSchema,
        status,
      },
      {
        required: ['spec'],
        'x-kubernetes-validations': [
          {
            // Objects that are older than the rule can still be changed, and finalizers taken off them.
            rule: `oldSelf.hasValue() || self.metadata.name.size() <= ${MAX_NAME_LENGTH}`,
            optionalOldSelf: true,
            message: `metadata.name must be at most ${MAX_NAME_LENGTH} characters long: the DaemonRollout is named after it`,
          },
        ],
      },
    ),
  },
});

/** `daemonsets.apps.kruise.io`, for `kubectl apply`, also over OpenKruise's own definition. */
export const advancedDaemonSetCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  // Deleting the CRD would delete every Advanced DaemonSet with its pods.
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
    // `webhook: null` removes the webhook of a definition that this one is applied over: omitted, it would stay, and the
    // API server refuses it together with None.
    conversion: { strategy: 'None', webhook: null },
    versions: api.versions.map(version),
  },
};
