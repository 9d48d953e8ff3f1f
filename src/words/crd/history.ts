import { daemonRolloutLimits as limits } from '../daemon-rollout.ts';
import type { Infer } from '../typed.ts';
import { atomicList, counter, dateTime, object, oneOf, text } from './schema.ts';
import { stagePromotions } from './stages.ts';

const revision = (description: string) =>
  object(description, {
    revision: text('Name of the ControllerRevision, which may no longer be kept.', limits.name),
    hash: text('Value of its label controller-revision-hash.', limits.hash),
    number: counter('Number of the ControllerRevision at that time.', 'int64'),
    images: atomicList(
      'The first distinct images of the template; empty if they were not recorded.',
      limits.images,
      text('An image, shortened if it is very long.', limits.image),
    ),
  });

/** A revision as the history records it. */
export type DaemonRolloutRevision = Infer<ReturnType<typeof revision>>;

const changedBy = object(
  'The client that changed the template, from metadata.managedFields of the DaemonSet; absent if they do not tell. Kubernetes does not record the user there.',
  {
    manager: text('Name of the field manager, such as kubectl-edit, helm, or edgeset-manager.', limits.fieldManager),
    operation: text('Apply for a server-side apply, Update for any other write.', limits.operation),
    time: dateTime('When it wrote, by the clock of the API server.'),
  },
);

const decision = object(
  'One decision, from a RolloutApproval, which may be deleted since.',
  {
    decision: oneOf('Approve: the approval that the stage requires. Promote: it skipped coverage, soak and checks.', [
      'Approve',
      'Promote',
    ]),
    by: text('Name of the user.', limits.user),
    at: dateTime('When the RolloutApproval was created, by the clock of the API server.'),
    comment: text('What the user said about it, shortened if it is very long.', limits.comment),
  },
  { optional: ['at', 'comment'] },
);

/** What somebody decided about a stage. */
export type StageDecision = Infer<typeof decision>;

const stage = object(
  'One stage.',
  {
    name: text('Name of the stage.', limits.hash),
    openedAt: dateTime('When it was opened.'),
    promotedAt: dateTime('When it was passed; absent if it was not, as for the last stage.'),
    promotion: oneOf('Why it was passed, as in status.stages.', stagePromotions),
    decisions: atomicList('What people decided about the stage; absent if nobody did.', 2, decision),
  },
  { optional: ['promotedAt', 'promotion', 'decisions'] },
);

/** A stage that was opened in a rollout, as the history records it. */
export type DaemonRolloutPastStage = Infer<typeof stage>;

const rollout = object(
  'One rollout: the change of the target, and what became of it.',
  {
    rollout: counter('Number of the rollout, as in status.rollout.', 'int64'),
    result: oneOf(
      'InProgress: it is still running. Complete: every online node ran the target. Halted: failures stopped it. ' +
        'Superseded: a new template replaced the target first. RolledBack: edgeset restored an earlier template. ' +
        'Undone: somebody else set an earlier template again first.',
      ['InProgress', 'Complete', 'Halted', 'Superseded', 'RolledBack', 'Undone'],
    ),
    from: revision('The target before; absent if it is not known, as for the first target that the manager found.'),
    to: revision('The target.'),
    changedBy,
    startedAt: dateTime('When the target was set; absent for the first target that the manager found.'),
    finishedAt: dateTime('When every online node first ran the target.'),
    allNodesUpdatedAt: dateTime('When every node first had the target, offline nodes included.'),
    haltedAt: dateTime('When it was last halted, even if it was resumed since.'),
    endedAt: dateTime('When the next target replaced this one; absent for the present rollout.'),
    nodes: counter('Number of nodes updated in it.'),
    failures: counter('The largest number of nodes on which the target had failed at the same time.'),
    stages: atomicList(
      'The stages of the rollout plan that were opened in this rollout, in that order; absent if there were none.',
      limits.stages,
      stage,
    ),
  },
  {
    optional: ['from', 'changedBy', 'startedAt', 'finishedAt', 'allNodesUpdatedAt', 'haltedAt', 'endedAt', 'stages'],
  },
);

export type DaemonRolloutHistory = Infer<typeof rollout>;

/** `status.history`. */
export const history = atomicList(
  'The last rollouts, newest first; the first one is the present one.',
  limits.history,
  rollout,
);
