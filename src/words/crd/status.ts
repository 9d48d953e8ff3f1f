import type { Condition } from 'kubernetes-types/meta/v1.d.ts';
import { daemonRolloutLimits as limits } from '../daemon-rollout.ts';
import { type Phase, phases, updateKinds } from '../phases.ts';
import type { Infer } from '../typed.ts';
import { history } from './history.ts';
import {
  atomicList,
  counter,
  dateTime,
  flag,
  keyedList,
  object,
  oneOf,
  type Schema,
  type SchemaOf,
  text,
} from './schema.ts';
import { stages } from './stages.ts';

const nodeName = (description: string) => text(description, limits.name);
const cause = () => text('Why the node is in its phase.', 64);
const rolloutNumber = (description: string) => counter(description, 'int64');

const updateKind = () =>
  oneOf(
    'How the pod is replaced: in-place patches the pod itself, surge creates the new one beside it. Absent if the pod is deleted.',
    updateKinds,
  );

const target = object('The revision that the nodes are updated to; absent until it is known.', {
  revision: text('Name of the ControllerRevision.', limits.name),
  hash: text('Value of the label controller-revision-hash on the pods of this revision.', limits.hash),
  number: counter('Number of the ControllerRevision, which increases when an older template is set again.', 'int64'),
});

const nodes = object('How many nodes are in each state; every eligible node is in exactly one of the nine phases.', {
  eligible: counter('Nodes that the DaemonSet runs on.'),
  online: counter('Eligible nodes that are Ready.'),
  updated: counter('Phase: online nodes whose pod is of the target revision and available.'),
  updating: counter('Phase: online nodes whose old pod is being replaced and whose new pod is not available yet.'),
  outdated: counter('Phase: online nodes with an available pod of an older revision, which wait for the budget.'),
  broken: counter(
    'Phase: online nodes with a pod of an older revision that is not available, or whose in-place update timed out.',
  ),
  offline: counter('Phase: nodes that are not Ready; they are skipped until they return.'),
  settling: counter('Phase: nodes that have just returned online.'),
  held: counter('Phase: nodes that something other than the budget keeps on an older revision.'),
  failed: counter('Phase: online nodes on which the target revision does not work.'),
  missing: counter('Phase: online nodes without a pod that no update has deleted.'),
  offlineOutdated: counter('Offline nodes that were not at the target revision when they were last seen.'),
} satisfies Record<Phase | 'eligible' | 'online' | 'offlineOutdated', Schema>);

const causes = keyedList(
  'The number of nodes for each phase and cause, without zeros.',
  limits.causes,
  ['phase', 'cause'],
  object('Nodes that are in one phase for the same cause.', {
    phase: oneOf('The phase.', phases),
    cause: cause(),
    count: counter('How many nodes.'),
  }),
);

const budget = object(
  'How many nodes may be down, or surge, at once, and how many are.',
  {
    maxUnavailable: text('The budget as the user set it, or its default.', 32),
    maxSurge: text('How many nodes may run a new pod beside the old one; absent if the old pod is deleted first.', 32),
    nodes: counter('The budget as a number of nodes; a percentage is of the eligible nodes that are online.'),
    inUse: counter('Online nodes that are down, for whatever reason.'),
    inFlight: counter('Online nodes that were updated and have not become available since.'),
    firstWave: text('How many nodes try a revision first, as it is set; absent for the failure threshold.', 32),
    trial: object('How many nodes may try the target, while that is less than the budget.', {
      limit: counter('No further healthy node is updated while so many are on trial.'),
      nodes: counter(
        'Nodes that are being updated, on which the target failed or is not available, or that went offline soon after.',
      ),
      proven: counter('Online nodes on which the target is available: three more may try it for each.'),
    }),
  },
  { optional: ['maxSurge', 'firstWave', 'trial'] },
);

const breaker = object('How close failures are to stopping the rollout.', {
  failures: counter('Nodes on which the target revision has failed, without those forgiven by a resume.'),
  suspects: counter('Nodes that went offline soon after their update and have not returned yet.'),
  threshold: counter('No update starts once failures and suspects together reach this number.'),
});

const owners = object(
  'With the strategy ota: the owners whose decision is pending.',
  {
    asked: counter(
      'Nodes whose owners are offered the target revision and have not approved it, including offline nodes.',
    ),
    nodes: atomicList('The first of these nodes by name.', limits.asked, nodeName('Name of a node.')),
    deadline: dateTime('When owners can no longer postpone the update; absent for never.'),
    deadlineSpreadSeconds: counter('Devices update at most this long after the deadline, each at its own time.'),
  },
  { optional: ['deadline', 'deadlineSpreadSeconds'] },
);

const images = object(
  'Images of the target that are pulled ahead of the update, on online nodes that are not updated; absent if none are.',
  {
    pulled: counter('Nodes that have the images.'),
    pulling: counter('Nodes that are pulling the images.'),
    waiting: counter('Nodes that wait for their turn to pull.'),
    failed: counter('Nodes on which a pull has failed; it is retried.'),
    failing: atomicList(
      'The first of these by name, with the cause as far as it is known.',
      limits.failing,
      object('A node on which a pull has failed.', {
        node: nodeName('Name of the node.'),
        message: text('Why the pull failed.', limits.message),
      }),
    ),
  },
);

const failing = atomicList(
  'The first failing nodes by name, with the cause as far as it is known.',
  limits.failing,
  object('A node on which the target revision has failed.', {
    node: nodeName('Name of the node.'),
    cause: cause(),
    message: text('What happened, as a sentence.', limits.message),
    since: dateTime('Since when the node has been without an available pod.'),
  }),
);

const stragglers = atomicList(
  'The first offline nodes that do not have the target, those that have been away for longest first.',
  limits.stragglers,
  object('An offline node that does not have the target.', {
    node: nodeName('Name of the node.'),
    lastSeen: dateTime('When the cluster noticed that the node was no longer Ready.'),
  }),
);

const CONDITION_TYPE =
  '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$';

/** As every API of Kubernetes has them. */
const conditions: SchemaOf<Condition[]> = keyedList(
  'Ready, Reconciling and Stalled as defined by kstatus, and Complete, AllNodesUpdated, Paused, Halted and ImageDrift.',
  limits.conditions,
  ['type'],
  object(
    'One aspect of the state of the rollout.',
    {
      type: text('The aspect.', 316, { pattern: CONDITION_TYPE }),
      status: oneOf('Status of the condition.', ['True', 'False', 'Unknown']),
      reason: text('The reason for the status, as one word for programs.', 1024, {
        minLength: 1,
        pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
      }),
      message: text('The reason for the status, for people; may be empty.', 32_768),
      observedGeneration: counter(
        'The metadata.generation of the DaemonRollout when the condition was written.',
        'int64',
      ),
      lastTransitionTime: dateTime('When the status last changed.'),
    },
    { optional: ['observedGeneration'] },
  ),
);

const halted = object(
  'Why and when the rollout was halted; absent while it is not.',
  {
    at: dateTime('When it was halted.'),
    reason: oneOf(
      'Failures: too many nodes failed. CheckFailed: a check of the open stage failed too often. ' +
        'RolledBack: the revision was rolled back before and has been set again. ImageDrift: an image is not the same on all nodes.',
      ['Failures', 'CheckFailed', 'RolledBack', 'ImageDrift'],
    ),
    nodes: atomicList('The first failed nodes.', limits.haltedNodes, nodeName('Name of a node.')),
    check: text('The check that failed: STAGE/CHECK.', 2 * limits.hash + 1),
  },
  { optional: ['check'] },
);

const lastComplete = object('The last revision that every online node ran; a rollback returns to it.', {
  revision: text('Name of the ControllerRevision.', limits.name),
  hash: text('Value of its label controller-revision-hash.', limits.hash),
});

const reservation = object(
  'An update of one node that has not completed.',
  {
    node: nodeName('Name of the node.'),
    kind: updateKind(),
    podName: text('Name of the pod to replace; absent once the update has been carried out.', limits.name),
    podUID: text('UID of the pod to replace, which distinguishes it from its successor; may be empty.', 64),
    podResourceVersion: text(
      'Version of the pod that the decision was made for, or the one after its in-place update; absent once the pod is deleted.',
      64,
    ),
    podRevision: text('Revision of the pod before an in-place update.', limits.hash),
    rollout: rolloutNumber('Number of the rollout that the update belongs to.'),
    at: dateTime('When the slot was reserved, with milliseconds.'),
    carriedOut: flag('The pod is known to be deleted, terminating, or updated in place.'),
    repairs: object(
      'The older update that this one repairs, in the same slot.',
      {
        kind: updateKind(),
        podUID: text('UID of the pod that was updated in place.', 64),
        rollout: rolloutNumber('Number of the rollout of the older update.'),
        at: dateTime('When the slot was reserved for the older update.'),
      },
      { optional: ['kind', 'podUID'] },
    ),
  },
  { optional: ['kind', 'podName', 'podResourceVersion', 'podRevision', 'repairs'] },
);

/** An update of a node that holds a slot of the budget, written before the update starts. */
export type DaemonRolloutReservation = Infer<typeof reservation>;

/** What receivers outside of the cluster can be told about a rollout. */
export const notificationKinds = [
  'started',
  'halted',
  'waiting',
  'completed',
  'all-nodes-updated',
  'stragglers',
] as const;
export type NotificationKind = (typeof notificationKinds)[number];

const notification = object(
  'One notification.',
  {
    kind: oneOf('What it is about.', notificationKinds),
    reason: text('Reason of the condition that explains it.', 64),
    stage: text('The stage of the rollout plan that waits; absent if it is not about a stage.', limits.hash),
    rollout: rolloutNumber('Number of the rollout.'),
    revision: text('Name of its target.', limits.name),
    at: dateTime('When it happened.'),
    message: text('What happened, as a sentence.', limits.message),
    nodes: object('How many nodes were in each state.', {
      eligible: counter('Nodes that the DaemonSet runs on.'),
      online: counter('Eligible nodes that were Ready.'),
      updated: counter('Online nodes at the target.'),
      failed: counter('Online nodes on which the target did not work.'),
      offline: counter('Nodes that were not Ready.'),
    }),
    targets: atomicList(
      'The targets of the configuration that have not received it yet.',
      limits.targets,
      text('Name of a target.', 63),
    ),
  },
  { optional: ['reason', 'stage'] },
);
/** Something about a rollout that receivers outside of the cluster are told. */
export type RolloutNotification = Infer<typeof notification>;

const notifications = object(
  'What is sent to receivers outside of the cluster; absent unless the manager has targets.',
  {
    sent: atomicList(
      'What this rollout tells only once, and has told.',
      limits.sent,
      text('The kind of notification, with its reason.', 64),
    ),
    pending: atomicList('What is still to be sent, oldest first.', limits.notifications, notification),
  },
);

const properties = {
  observedGeneration: counter(
    'The metadata.generation of this DaemonRollout, as tools expect it here. daemonSetGeneration says what the status is about.',
    'int64',
  ),
  daemonSetGeneration: counter('The metadata.generation of the DaemonSet that this status is about.', 'int64'),
  policyHash: text('Changes when the policy in the annotations changes; empty while it is invalid.', limits.hash),
  strategy: oneOf(
    'auto: the manager updates the nodes. ota: the owner of each node does. manual: users do, by deleting its pod.',
    ['auto', 'ota', 'manual'],
  ),
  leader: text(
    'The process that last reserved slots. Another process writes its own name before it continues with them.',
    limits.name,
  ),
  summary: text('Where the rollout stands, in a few words.', limits.summary),
  target,
  rollout: rolloutNumber('Counts the changes of the target.'),
  updatesStarted: counter('Number of nodes updated in this rollout.'),
  startedAt: dateTime('When the target was set; absent for the first target that the manager found.'),
  finishedAt: dateTime('When every online node first ran the target, and every stage of the rollout plan was open.'),
  firstWaveUpdatedAt: dateTime(
    'When as many nodes as the first wave first had the target; absent if the first wave is no smaller than the budget.',
  ),
  halfUpdatedAt: dateTime('When half of the online nodes first had the target.'),
  allNodesUpdatedAt: dateTime('When every node first had the target, offline nodes included.'),
  estimatedFinishAt: dateTime(
    'When all online nodes will run the target if the rollout continues at its present pace.',
  ),
  nodes,
  causes,
  budget,
  breaker,
  owners,
  images,
  failing,
  stragglers,
  conditions,
  halted,
  resumed: text('The last value of the annotation edgeset.io/resume that took effect.', limits.consent),
  driftForgiven: flag('The user resumed while images differed between nodes: that no longer halts this rollout.'),
  lastComplete,
  // The two long lists are replaced as a whole. As maps keyed by node, they would make the API server record the owner of
  // every field of every item in metadata.managedFields, which nearly doubles the object: etcd then refuses 5000 slots.
  reservations: atomicList(
    'The reserved slots of the budget, one for each node, written before the updates start so that the next leader respects them.',
    limits.reservations,
    reservation,
  ),
  forgiven: atomicList(
    'Nodes whose failure the user forgave by resuming; they count again once they have worked.',
    limits.forgiven,
    nodeName('Name of a node.'),
  ),
  history,
  notifications,
  plan: text(
    'The rollout plan that the DaemonSet names: NAME, or cluster/NAME. Absent without one.',
    limits.name + 'cluster/'.length,
  ),
  rollback: flag(
    'The target is the revision that was last complete, set again while another was rolled out: stages, windows and freezes do not hold it.',
  ),
  stages,
} satisfies Record<string, Schema>;

/** No field is required, since a reservation is written before the rest. */
export const daemonRolloutStatusSchema = object(
  'The observed state of the rollout, and what the next leader needs to continue.',
  properties,
  { optional: Object.keys(properties) as (keyof typeof properties)[] },
);

export type DaemonRolloutStatus = Infer<typeof daemonRolloutStatusSchema>;
