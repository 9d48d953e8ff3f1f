import { phases } from '../record/phase.ts';
import { atomicList, counter, dateTime, flag, keyedList, object, oneOf, type Schema, text } from './crd-schema.ts';
import { daemonRolloutLimits as limits } from './types.ts';

const nodeName = (description: string): Schema => text(description, limits.name);
const cause = (): Schema =>
  text('Why the node is in its phase, as a word that `kubectl edgeset explain` spells out.', 64);
const rolloutNumber = (description: string): Schema => counter(description, 'int64');

const actKind = (): Schema =>
  oneOf(
    'How the pod is replaced: in-place changes the pod itself, surge creates the new one beside it. Absent where it is deleted.',
    ['in-place', 'surge'],
  );

const target = object('The revision that the nodes are brought to; absent until it is known.', {
  revision: text('Name of the ControllerRevision.', limits.name),
  hash: text('Value of the label controller-revision-hash on the pods of this revision.', limits.hash),
  number: counter('Number of the ControllerRevision, which rises when an older template is set again.', 'int64'),
});

const nodes = object('How many nodes are in which state; each eligible node is in exactly one of the nine phases.', {
  eligible: counter('Nodes that the DaemonSet runs on.'),
  online: counter('Eligible nodes that are Ready.'),
  updated: counter('Phase: online nodes whose pod is of the target revision and available.'),
  updating: counter('Phase: online nodes between the end of the old pod and the availability of the new one.'),
  outdated: counter(
    'Phase: online nodes with an available pod of an older revision, to be updated when there is budget.',
  ),
  broken: counter(
    'Phase: online nodes with a pod of an older revision that is not available, or one that was not changed in place in time.',
  ),
  offline: counter('Phase: nodes that are not Ready; they are skipped until they return.'),
  settling: counter('Phase: nodes that came back online only just now.'),
  held: counter('Phase: nodes that something other than the budget keeps on an older revision.'),
  failed: counter('Phase: online nodes on which the target revision does not work.'),
  missing: counter('Phase: online nodes without a pod that is not of our doing.'),
  offlineOutdated: counter('Offline nodes that were not at the target revision when they were last seen.'),
});

const causes = keyedList(
  'The phases by cause, without those that no node is in.',
  limits.causes,
  ['phase', 'cause'],
  object('Nodes that are in one phase for the same cause.', {
    phase: oneOf('The phase.', phases),
    cause: cause(),
    count: counter('How many nodes.'),
  }),
);

const budget = object(
  'How many nodes may be down, or surge, at once, and how many do.',
  {
    maxUnavailable: text('The budget as it is written by the user, or its default.', 32),
    maxSurge: text('How many nodes may have a new pod beside the old one; absent where the old one goes first.', 32),
    nodes: counter('The budget as a number of nodes, a percentage being of the eligible nodes that are online.'),
    inUse: counter('Online nodes that are down, whatever brought them down.'),
    inFlight: counter('Online nodes that were acted on and have not become available since.'),
  },
  { optional: ['maxSurge'] },
);

const breaker = object('How near the rollout is to being stopped for its failures.', {
  failures: counter('Nodes on which the target revision has failed, without those forgiven by a resume.'),
  suspects: counter('Nodes that went offline soon after they were acted on and have not come back yet.'),
  threshold: counter('No act begins once failures and suspects together reach this number.'),
});

const owners = object(
  'With the strategy ota: whose decision is awaited.',
  {
    asked: counter('Nodes whose owners are offered the target revision and have not agreed, offline ones too.'),
    nodes: atomicList('The first of these nodes by name.', limits.asked, nodeName('Name of a node.')),
    deadline: dateTime('When owners can no longer put the update off; absent for never.'),
    deadlineSpreadSeconds: counter('Devices act within so long after the deadline, each at a time of its own.'),
  },
  { optional: ['deadline', 'deadlineSpreadSeconds'] },
);

const images = object(
  'Images of the target that are pulled ahead of the update, by online nodes that are not updated; absent where none are.',
  {
    pulled: counter('Nodes that have them.'),
    pulling: counter('Nodes that are pulling them.'),
    waiting: counter('Nodes whose turn to pull has not come.'),
    failed: counter('Nodes on which a pull has failed; it is tried again.'),
    failing: atomicList(
      'The first of these by name, with what is known of the cause.',
      limits.failing,
      object('A node on which images cannot be pulled as yet.', {
        node: nodeName('Name of the node.'),
        message: text('What refused.', limits.message),
      }),
    ),
  },
);

const failing = atomicList(
  'The first failing nodes by name, with what is known of the cause.',
  limits.failing,
  object('A node on which the target revision has failed.', {
    node: nodeName('Name of the node.'),
    cause: cause(),
    message: text('What happened, as a sentence.', limits.message),
    since: dateTime('Since when the node has been without an available pod.'),
  }),
);

const CONDITION_TYPE =
  '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$';

const conditions = keyedList(
  'Ready, Reconciling and Stalled as kstatus reads them, and Complete, Paused and Halted.',
  limits.conditions,
  ['type'],
  object(
    'One aspect of the state of the rollout.',
    {
      type: text('Which aspect.', 316, { pattern: CONDITION_TYPE }),
      status: oneOf('Whether it is so.', ['True', 'False', 'Unknown']),
      reason: text('Why it is so, as one word for programs.', 1024, {
        minLength: 1,
        pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
      }),
      message: text('Why it is so, for people; may be empty.', 32_768),
      observedGeneration: counter('The generation of the DaemonSet that this speaks of.', 'int64'),
      lastTransitionTime: dateTime('When the status last changed.'),
    },
    { optional: ['observedGeneration'] },
  ),
);

const halted = object('Why and when the rollout was stopped; absent while it is not.', {
  at: dateTime('When it was stopped.'),
  reason: oneOf('Failures: too many nodes failed. RolledBack: so it was taken back to the revision before.', [
    'Failures',
    'RolledBack',
  ]),
  nodes: atomicList('The first failed nodes.', limits.haltedNodes, nodeName('Name of a node.')),
});

const lastComplete = object('The last revision that every online node was seen to run; what a rollback returns to.', {
  revision: text('Name of the ControllerRevision.', limits.name),
  hash: text('Value of its label controller-revision-hash.', limits.hash),
});

// The two long lists are replaced as a whole: told apart by node, the API server would note the owner of every field of
// every item in metadata.managedFields, which nearly doubles the object. With 5000 slots etcd then refuses it.
const reservations = atomicList(
  'The slots of the budget that are taken, one a node, written before the acts begin, so that a successor keeps to them.',
  limits.reservations,
  object(
    'An act on one node that has not healed.',
    {
      node: nodeName('Name of the node.'),
      kind: actKind(),
      podName: text('Name of the pod that is acted on; absent once it has been.', limits.name),
      podUID: text('UID of the pod that is acted on, which tells it from its successor; may be empty.', 64),
      podResourceVersion: text(
        'Version of the pod that the decision was made for, or the one that it was changed to in place; absent once it has been deleted.',
        64,
      ),
      podRevision: text('Revision that the pod was of, where it is changed in place.', limits.hash),
      rollout: rolloutNumber('Number of the rollout that the act belongs to.'),
      at: dateTime('When the slot was taken, with milliseconds.'),
      carriedOut: flag('The pod is known to have gone, to be going, or to have been changed.'),
      repairs: object(
        'The older act that is repaired here, in the slot which that one held.',
        {
          kind: actKind(),
          podUID: text('UID of the pod that was changed in place.', 64),
          rollout: rolloutNumber('Number of the rollout of the older act.'),
          at: dateTime('When the older act took the slot.'),
        },
        { optional: ['kind', 'podUID'] },
      ),
    },
    { optional: ['kind', 'podName', 'podResourceVersion', 'podRevision', 'repairs'] },
  ),
);

const properties = {
  observedGeneration: counter('The generation of the DaemonSet that this status speaks of.', 'int64'),
  policyHash: text('Changes when the policy in the annotations does; empty while they are not valid.', limits.hash),
  strategy: oneOf(
    'auto: the controller updates the nodes. ota: the owner of each node does. manual: whoever deletes its pod does.',
    ['auto', 'ota', 'manual'],
  ),
  leader: text(
    'The process that reserved slots last; another writes its own name before it goes on with them.',
    limits.name,
  ),
  summary: text('Where the rollout stands, in a few words.', limits.summary),
  target,
  rollout: rolloutNumber('Counts the changes of target.'),
  acted: counter('Nodes acted on in this rollout.'),
  startedAt: dateTime('When the target became what it is; absent for the first one that was found.'),
  finishedAt: dateTime('When every online node was first seen to be at the target.'),
  estimatedFinishAt: dateTime('When the online nodes will be at the target if it goes on as it has.'),
  nodes,
  causes,
  budget,
  breaker,
  owners,
  images,
  failing,
  conditions,
  halted,
  resumed: text('The value of the annotation edgeset.io/resume that was honoured last.', limits.consent),
  lastComplete,
  reservations,
  forgiven: atomicList(
    'Nodes whose failure the user has forgiven by resuming; they count again once they have worked.',
    limits.forgiven,
    nodeName('Name of a node.'),
  ),
} satisfies Record<string, Schema>;

/** Every field of DaemonRolloutStatus in api.ts; none is required, since a reservation is written before the rest. */
export const daemonRolloutStatusSchema: Schema = object('What the manager observes and keeps.', properties, {
  optional: Object.keys(properties),
});
