import {
  counter,
  flag,
  intOrPercent,
  labelMap,
  labelSelector,
  object,
  openObject,
  type Rule,
  type Schema,
  selects,
  text,
  withRules,
} from './schema.ts';
import { rollingUpdateTypes, updateTypes } from './types.ts';

const MOST_CONTAINERS = 256;

/** Fields that rules need are declared; the API server's own check of a pod template judges the rest (template.ts). */
const container = (description: string): Schema =>
  openObject(
    description,
    {
      name: text('Name of the container, unique in the pod.', 63, { minLength: 1 }),
      image: text('Image that it runs.', 4096),
    },
    { required: ['name'] },
  );

const template = openObject(
  'The pod that each eligible node gets one of, as in apps/v1.',
  {
    metadata: openObject('Labels and annotations of the pods.', {
      labels: labelMap('Labels of the pods; the selector must match them.'),
    }),
    spec: withRules(
      openObject(
        'The pods themselves.',
        {
          restartPolicy: text('Always, or left out.', 32),
          activeDeadlineSeconds: { type: 'integer', format: 'int64', description: 'Must be left out.' },
          containers: {
            type: 'array',
            description: 'Containers of the pod, at least one.',
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
        message: 'a daemon runs for as long as its node does: leave restartPolicy out, or set it to Always',
        fieldPath: '.restartPolicy',
      },
      {
        rule: '!has(self.activeDeadlineSeconds)',
        message: 'a daemon runs for as long as its node does: leave activeDeadlineSeconds out',
        fieldPath: '.activeDeadlineSeconds',
      },
    ),
  },
  { required: ['spec'] },
);

const nonZero = (field: string): string => `(type(${field}) == int ? ${field} > 0 : ${field} != '0%')`;
const surging = "self.rollingUpdateType == 'Surging'";
/** What holds once the defaults that depend on other fields are filled in (effective.ts). */
const surges = `(has(self.maxSurge) ? ${nonZero('self.maxSurge')} : ${surging})`;
const takesDown = `(has(self.maxUnavailable) ? ${nonZero('self.maxUnavailable')} : !(${surging}) && !has(self.maxSurge))`;

const oneOfTheTwo: Rule[] = [
  {
    rule: `!(${surges} && ${takesDown})`,
    message: 'nodes are updated either one pod after the other or side by side: set maxUnavailable or maxSurge to 0',
    fieldPath: '.maxSurge',
  },
  {
    rule: `${surges} || ${takesDown}`,
    message: 'nothing could be updated: set maxUnavailable or maxSurge to at least 1 (paused: true stops updates)',
    fieldPath: '.maxUnavailable',
  },
  {
    rule: `self.rollingUpdateType != 'InPlaceIfPossible' || !${surges}`,
    message: 'a pod that is updated in place has no second one beside it: leave maxSurge out, or set it to 0',
    fieldPath: '.maxSurge',
  },
];

const rollingUpdate = withRules(
  object('How pods are replaced when the template changes.', {
    rollingUpdateType: {
      type: 'string',
      description:
        'Standard replaces pods. InPlaceIfPossible changes images, labels, annotations and resources of the running ' +
        'pod where that is enough. Surging is Standard with maxSurge 1 unless given.',
      enum: [...rollingUpdateTypes],
      default: 'Standard',
    },
    maxUnavailable: intOrPercent(
      'How many online nodes may be without an available pod at once; a percentage is of the nodes that the DaemonSet ' +
        'is for, rounded up. 1 when neither it nor maxSurge is set.',
      0,
    ),
    maxSurge: intOrPercent(
      'How many nodes may run the old and the new pod at once; a percentage is of the nodes that the DaemonSet is for, ' +
        'rounded up.',
      0,
    ),
    selector: labelSelector('Only nodes with these labels are updated. Default: all.'),
    partition: intOrPercent(
      'How many nodes to leave on the old revision; a percentage is of the nodes that the DaemonSet is for, rounded down.',
      0,
      { default: 0 },
    ),
    paused: flag('No pod is updated; pods are still created, repaired and cleaned up.'),
  }),
  ...oneOfTheTwo,
);

const preDelete = object('Asks for consent before a pod is deleted.', {
  labelsHandler: labelMap('A pod with one of these labels waits until it is gone.'),
  finalizersHandler: {
    type: 'array',
    description: 'A pod with one of these finalizers waits until it is gone.',
    maxItems: 64,
    items: text('A finalizer, such as example.io/unready-blocker.', 317, { minLength: 1 }),
    'x-kubernetes-list-type': 'atomic',
  },
  markPodNotReady: flag('The pod is taken out of its services while it waits.'),
});

const lifecycle = withRules(
  object('Hooks in the life of the pods.', {
    preDelete,
    inPlaceUpdate: openObject('Must be left out.', {}),
  }),
  {
    rule: '!has(self.inPlaceUpdate)',
    message: 'DaemonSets have no hook before an update in place: remove inPlaceUpdate, preDelete is there',
    fieldPath: '.inPlaceUpdate',
  },
);

/** The specification of an Advanced DaemonSet: one superset for every served version. */
export const advancedDaemonSetSpecSchema = withRules(
  object(
    'What is wanted.',
    {
      selector: withRules(
        labelSelector('Which pods belong to it; must match the labels of the template and never changes.'),
        {
          rule: '(has(self.matchLabels) && size(self.matchLabels) > 0) || (has(self.matchExpressions) && size(self.matchExpressions) > 0)',
          message: 'an empty selector would take every pod of the namespace: set matchLabels or matchExpressions',
        },
        {
          rule: 'self == oldSelf',
          message: 'the selector never changes: delete the DaemonSet with --cascade=orphan and make it anew',
        },
      ),
      template,
      minReadySeconds: counter('How long a pod must have been ready to count as available.', { default: 0 }),
      revisionHistoryLimit: counter('How many revisions that no pod runs are kept to go back to.', { default: 10 }),
      burstReplicas: intOrPercent(
        'How many pods may be created or deleted in one go; a percentage is of the nodes that the DaemonSet is for, ' +
          'rounded up.',
        1,
        { default: 250 },
      ),
      updateStrategy: object(
        'How an update reaches the nodes.',
        {
          type: {
            type: 'string',
            description: 'RollingUpdate replaces pods by itself; OnDelete leaves that to whoever deletes them.',
            enum: [...updateTypes],
            default: 'RollingUpdate',
          },
          rollingUpdate,
        },
        { default: {} },
      ),
      scaleStrategy: object('How pods reach new nodes.', {
        partitionedScaling: flag('The partition limits how many new nodes get a pod, too.'),
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
