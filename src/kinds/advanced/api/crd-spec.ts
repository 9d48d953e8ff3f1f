import {
  intOrPercent,
  labelMap,
  labelSelector,
  MOST_REQUIREMENTS,
  type Rule,
  withRules,
} from '../../../words/index.ts';
import { counter, flag, object, openObject, type Schema, selects, text } from './schema.ts';
import { type RollingUpdate, rollingUpdateTypes, updateTypes } from './types.ts';

const MOST_CONTAINERS = 256;

/** Declares the fields that the rules read. The API server validates the rest (revisions/defaulted-template.ts). */
const container = (description: string): Schema =>
  openObject(
    description,
    {
      name: text('Name of the container; unique within the pod.', 63, { minLength: 1 }),
      image: text('Image that the container runs.', 4096),
    },
    { required: ['name'] },
  );

const template = openObject(
  'Template of the pod that each eligible node runs, as in apps/v1.',
  {
    metadata: openObject('Labels and annotations of the pods.', {
      labels: labelMap('Labels of the pods. The selector must match them.'),
    }),
    spec: withRules(
      openObject(
        'Specification of the pods.',
        {
          restartPolicy: text('Must be Always or omitted.', 32),
          activeDeadlineSeconds: { type: 'integer', format: 'int64', description: 'Must be omitted.' },
          containers: {
            type: 'array',
            description: 'Containers of the pod. At least one is required.',
            minItems: 1,
            maxItems: MOST_CONTAINERS,
            items: container('A container.'),
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['name'],
          },
        },
        { required: ['containers'] },
      ),
      {
        rule: "!has(self.restartPolicy) || self.restartPolicy == 'Always'",
        message: 'a daemon runs for as long as its node does: omit restartPolicy or set it to Always',
        fieldPath: '.restartPolicy',
      },
      {
        rule: '!has(self.activeDeadlineSeconds)',
        message: 'a daemon runs for as long as its node does: omit activeDeadlineSeconds',
        fieldPath: '.activeDeadlineSeconds',
      },
    ),
  },
  { required: ['spec'] },
);

const nonZero = (field: string): string => `(type(${field}) == int ? ${field} > 0 : ${field} != '0%')`;
const surging = "self.rollingUpdateType == 'Surging'";
/** These apply the defaults that depend on other fields, as `effective` in policy.ts does. */
const surges = `(has(self.maxSurge) ? ${nonZero('self.maxSurge')} : ${surging})`;
const takesDown = `(has(self.maxUnavailable) ? ${nonZero('self.maxUnavailable')} : !(${surging}) && !has(self.maxSurge))`;

const exactlyOneLimit: Rule[] = [
  {
    rule: `!(${surges} && ${takesDown})`,
    message: 'an update either deletes the old pod first or surges: set maxUnavailable or maxSurge to 0',
    fieldPath: '.maxSurge',
  },
  {
    rule: `${surges} || ${takesDown}`,
    message:
      'no node could ever be updated: set maxUnavailable or maxSurge to at least 1 (to stop updates, set paused: true)',
    fieldPath: '.maxUnavailable',
  },
  {
    rule: `self.rollingUpdateType != 'InPlaceIfPossible' || !${surges}`,
    message: 'an in-place update does not create a second pod: omit maxSurge or set it to 0',
    fieldPath: '.maxSurge',
  },
];

/**
 * OpenKruise's webhook stores `rollingUpdate`, and clients read its fields without looking for it first. Written out: the API
 * server validates a default by the rules before it applies the defaults of its fields.
 */
const rollingUpdateDefault: RollingUpdate = { rollingUpdateType: 'Standard', partition: 0, paused: false };

const rollingUpdate = withRules(
  object(
    'How pods are updated when the template changes.',
    {
      rollingUpdateType: {
        type: 'string',
        description:
          'Standard replaces pods. InPlaceIfPossible changes the images, labels, annotations and resources of the ' +
          'running pod when nothing else differs. Surging is Standard with a default maxSurge of 1.',
        enum: [...rollingUpdateTypes],
        default: 'Standard',
      },
      maxUnavailable: intOrPercent(
        'Maximum number of online nodes without an available pod. A percentage refers to all eligible nodes, offline ' +
          'ones included, and is rounded up. Defaults to 1 when maxSurge is not set.',
        0,
      ),
      maxSurge: intOrPercent(
        'Maximum number of nodes that may run the old and the new pod at the same time. A percentage refers to all ' +
          'eligible nodes, offline ones included, and is rounded up.',
        0,
      ),
      selector: labelSelector('Nodes to update. Defaults to all nodes.', MOST_REQUIREMENTS / 2),
      partition: intOrPercent(
        'Number of nodes to keep on the old revision. A percentage refers to all eligible nodes, offline ones included, ' +
          'and is rounded down.',
        0,
        { default: 0 },
      ),
      paused: flag('Stops updates. Pods are still created, replaced when they fail, and cleaned up.'),
    },
    { default: rollingUpdateDefault },
  ),
  ...exactlyOneLimit,
);

const preDelete = object('Holds a pod before it is deleted, until a controller of yours releases it.', {
  labelsHandler: labelMap('A pod with one of these labels is held until the label is removed.'),
  finalizersHandler: {
    type: 'array',
    description: 'A pod with one of these finalizers is held until the finalizer is removed.',
    maxItems: 64,
    items: text('A finalizer, such as example.io/unready-blocker.', 317, { minLength: 1 }),
    'x-kubernetes-list-type': 'atomic',
  },
  markPodNotReady: flag('Removes the pod from its Services while it is held.'),
});

const lifecycle = withRules(
  object('Lifecycle hooks of the pods.', {
    preDelete,
    inPlaceUpdate: openObject('Must be omitted.', {}),
  }),
  {
    rule: '!has(self.inPlaceUpdate)',
    message: 'DaemonSets have no in-place update hook: remove inPlaceUpdate (preDelete is supported)',
    fieldPath: '.inPlaceUpdate',
  },
);

/** The schema of `spec`, the same for every served version. */
export const advancedDaemonSetSpecSchema = withRules(
  object(
    'Desired state of the DaemonSet.',
    {
      selector: withRules(
        labelSelector('Pods that belong to the DaemonSet. Must match the labels of the template. Immutable.'),
        {
          rule: '(has(self.matchLabels) && size(self.matchLabels) > 0) || (has(self.matchExpressions) && size(self.matchExpressions) > 0)',
          message: 'an empty selector would match every pod in the namespace: set matchLabels or matchExpressions',
        },
        {
          rule: 'self == oldSelf',
          message: 'the selector is immutable: delete the DaemonSet with --cascade=orphan and create it again',
        },
      ),
      template,
      minReadySeconds: counter('Seconds that a pod must be ready before it counts as available.', { default: 0 }),
      revisionHistoryLimit: counter('Number of old revisions to keep for rollback.', { default: 10 }),
      burstReplicas: intOrPercent(
        'Maximum number of pods that are created or deleted at once. A percentage refers to all eligible nodes, offline ' +
          'ones included, and is rounded up.',
        1,
        { default: 250 },
      ),
      updateStrategy: object(
        'How updates reach the nodes.',
        {
          type: {
            type: 'string',
            description: 'RollingUpdate updates pods automatically. OnDelete updates a pod when somebody deletes it.',
            enum: [...updateTypes],
            default: 'RollingUpdate',
          },
          rollingUpdate,
        },
        { default: {} },
      ),
      scaleStrategy: object('How new nodes get pods.', {
        partitionedScaling: flag('The partition also limits how many new nodes get a pod.'),
      }),
      lifecycle,
    },
    { required: ['selector', 'template'] },
  ),
  {
    rule: selects(
      'self.selector',
      '(has(self.template.metadata) && has(self.template.metadata.labels))',
      'self.template.metadata.labels',
    ),
    message: 'the selector must match the labels of the template: add them to spec.template.metadata.labels',
    fieldPath: '.template',
  },
);
