import type { EventRecorder } from '../../kube/index.ts';
import {
  formatPolicyError,
  hasCompleted,
  hasReachedAll,
  hasStarted,
  INTERNAL_ERROR,
  type PolicyError,
  type Reason,
  reasonTexts,
  startedText,
  type WrittenStatus,
} from '../../rollout/index.ts';
import type { DaemonRolloutStatus } from '../../words/index.ts';
import type { DaemonSetRef } from '../kind.ts';
import type { KindEvents } from '../kind-adapter.ts';
import type { PodWriteKind } from '../pod-writes.ts';
import { stageEvents } from './stage-events.ts';

interface PodWriteTexts {
  /** For metrics, when it was done. */
  result: string;
  /** Action and reasons of the Events. */
  action: string;
  done: string;
  failed: string;
  /** What was done, as a sentence. */
  did: (pod: string, node: string) => string;
  /** What failed: "Failed to ...". */
  attempted: (pod: string, node: string) => string;
}

const deletion = {
  action: 'Delete',
  done: 'SuccessfulDelete',
  failed: 'FailedDelete',
  did: (pod: string, node: string): string => `Deleted pod ${pod} on ${node}`,
  attempted: (pod: string, node: string): string => `delete pod ${pod} on ${node}`,
};

/** How each write is reported. */
export const podWriteTexts: Readonly<Record<PodWriteKind, PodWriteTexts>> = {
  delete: { ...deletion, result: 'deleted' },
  'update-in-place': {
    result: 'updated-in-place',
    action: 'UpdateInPlace',
    done: 'SuccessfulUpdatePodInPlace',
    failed: 'FailedUpdatePodInPlace',
    did: (pod, node) => `Started to update pod ${pod} on ${node} in place`,
    attempted: (pod, node) => `update pod ${pod} on ${node} in place`,
  },
  surge: {
    result: 'created',
    action: 'Create',
    done: 'SuccessfulCreate',
    failed: 'FailedCreate',
    did: (pod, node) => `Created a surge pod next to ${pod} on ${node}`,
    attempted: (pod, node) => `create a surge pod next to ${pod} on ${node}`,
  },
  'delete-old': { ...deletion, result: 'old_deleted' },
};

const condition = (status: DaemonRolloutStatus | undefined, type: string) =>
  status?.conditions?.find((candidate) => candidate.type === type);

/** The errors of the policy; empty if it is valid. */
const invalidity = (status: DaemonRolloutStatus | undefined): string => {
  const stalled = condition(status, 'Stalled');
  return stalled?.reason === 'InvalidPolicy' ? stalled.message : '';
};

const turned = (
  before: DaemonRolloutStatus | undefined,
  after: WrittenStatus,
  type: string,
): 'on' | 'off' | undefined => {
  const was = condition(before, type)?.status === 'True';
  const is = condition(after, type)?.status === 'True';
  return was === is ? undefined : is ? 'on' : 'off';
};

/** Records Events on a DaemonSet. Those about the rollout follow from two statuses, so that a restart repeats nothing. */
export interface RolloutEvents extends KindEvents {
  /** Compares the status that was written with the one before. */
  statusWritten(before: DaemonRolloutStatus | undefined, after: WrittenStatus): void;
  policyWarning(warning: PolicyError): void;
  podWritten(kind: PodWriteKind, pod: string, node: string, because: Reason): void;
  fenceRefused(pod: string, node: string, reason: string, message: string): void;
  /** What refuses one pod usually refuses all: one Event per revision and reason. */
  announceRefused(pod: string, node: string, revision: string, reason: string, message: string): void;
  rolledBack(from: string, to: string): void;
  rollbackRefused(to: string, reason: string, message: string): void;
  rollbackImpossible(to: string): void;
  /** A condition says so from now on. */
  internalError(note: string): void;
  /** The DaemonRollout, which should hold the reservations, belongs to another DaemonSet. */
  rolloutNotOurs(): void;
}

export const createRolloutEvents = (recorder: EventRecorder, daemonSet: DaemonSetRef): RolloutEvents => {
  const { rolloutName, short: _, ...regarding } = daemonSet;
  const conflicts = new Set<string>();
  /** Warnings of this rollout. */
  const warned = new Set<string>();
  /** Pods are announced before the status of their rollout is written: refusals in between are still recorded. */
  let announcing = { revision: '', reasons: new Set<string>() };

  const event: KindEvents['event'] = (type, reason, action, note) =>
    recorder.event({ regarding, type, reason, action, note });

  const warnOnce: KindEvents['warnOnce'] = (key, reason, action, note) => {
    if (warned.has(key)) return;
    warned.add(key);
    event('Warning', reason, action, note);
  };

  const started = (status: WrittenStatus): void => {
    const { strategy = 'auto' } = status;
    const { offlineOutdated } = status.nodes;
    const action = ({ auto: 'Roll', ota: 'Announce', manual: 'Await' } as const)[strategy];
    event('Normal', 'RolloutStarted', action, startedText(status));
    if (offlineOutdated > 0 && strategy === 'auto')
      event(
        'Normal',
        'OfflineNodesSkipped',
        'Skip',
        `Skipping ${offlineOutdated} offline nodes; each is updated once it is back online.`,
      );
  };

  return {
    event,
    warnOnce,

    statusWritten(before, after) {
      const message = (type: string): string => condition(after, type)?.message ?? '';
      const invalid = invalidity(after);
      if (invalid && invalid !== invalidity(before)) event('Warning', 'InvalidPolicy', 'Validate', invalid);
      if (hasStarted(before, after)) {
        warned.clear();
        started(after);
      }
      for (const { type, reason, action, note, key } of stageEvents(before, after))
        if (key === undefined) event(type, reason, action, note);
        else warnOnce(key, reason, action, note);
      if (hasCompleted(before, after)) event('Normal', 'RolloutCompleted', 'Complete', message('Complete'));
      // Not if both are reached at once: the one Event says it.
      const isLast = before?.rollout === after.rollout && before.finishedAt !== undefined;
      if (isLast && hasReachedAll(before, after))
        event('Normal', 'AllNodesUpdated', 'Complete', message('AllNodesUpdated'));
      const { failed = 0, failing: [first] = [] } = after.images ?? {};
      if (first && (before?.images?.failed ?? 0) === 0)
        warnOnce(
          'images',
          'FailedImagePull',
          'Pull',
          `Images of ${after.target?.revision} cannot be pulled ahead on ${failed} node${failed === 1 ? '' : 's'}; retrying. ${first.node}: ${first.message}`,
        );
      const halted = turned(before, after, 'Halted');
      if (halted === 'on') event('Warning', 'RolloutHalted', 'Halt', message('Halted'));
      const resumed = after.resumed !== undefined && before?.resumed !== after.resumed && before !== undefined;
      if (resumed)
        event('Normal', 'RolloutResumed', 'Resume', `Resumed by ${after.resumed}: known failures are forgiven.`);
      if (before?.halted?.reason === 'ImageDrift' && before.rollout === after.rollout && !after.halted && !resumed)
        event('Normal', 'RolloutResumed', 'Resume', 'Images no longer differ between nodes, or may differ.');
      if (turned(before, after, 'ImageDrift') === 'on')
        warnOnce(`drift ${after.rollout}`, 'ImageDrift', 'Compare', message('ImageDrift'));
      const paused = turned(before, after, 'Paused');
      if (paused === 'on') event('Normal', 'RolloutPaused', 'Pause', message('Paused'));
      if (paused === 'off') event('Normal', 'RolloutUnpaused', 'Unpause', 'The rollout continues.');
    },

    policyWarning(warning) {
      const text = formatPolicyError(warning);
      if (conflicts.has(text)) return;
      conflicts.add(text);
      event('Warning', 'PolicyConflict', 'Validate', text);
    },
    podWritten(kind, pod, node, because) {
      const { done, action, did } = podWriteTexts[kind];
      event('Normal', done, action, `${did(pod, node)}: ${reasonTexts[because]}.`);
    },
    podWriteRefused(kind, pod, node, reason, message) {
      const { failed, action, attempted } = podWriteTexts[kind];
      warnOnce(`${kind} ${node} ${reason}`, failed, action, `Failed to ${attempted(pod, node)}: ${message}`);
    },
    fenceRefused(pod, node, reason, message) {
      const note = `Failed to withdraw the reservation for pod ${pod} on ${node}: ${message}`;
      warnOnce(`fence ${node} ${reason}`, 'FailedFence', 'Fence', note);
    },
    announceRefused(pod, node, revision, reason, message) {
      if (announcing.revision !== revision) announcing = { revision, reasons: new Set() };
      if (announcing.reasons.has(reason)) return;
      announcing.reasons.add(reason);
      const note = `Failed to write condition PodNeedUpgrade of pod ${pod} on ${node}, and possibly of others; retrying: ${message}`;
      event('Warning', 'FailedAnnounce', 'Announce', note);
    },
    rolledBack(from, to) {
      event('Warning', 'RolledBack', 'Rollback', `Restored the template of ${to}: ${from} failed.`);
    },
    rollbackRefused(to, reason, message) {
      const note = `Failed to restore the template of ${to}: ${message}`;
      warnOnce(`rollback ${to} ${reason}`, 'RollbackFailed', 'Rollback', note);
    },
    rollbackImpossible(to) {
      const note = `The template of ${to} is no longer kept, so the rollout stays halted.`;
      event('Warning', 'RollbackFailed', 'Rollback', note);
    },
    internalError(note) {
      event('Warning', INTERNAL_ERROR, 'Reconcile', note);
    },
    rolloutNotOurs() {
      const note = `DaemonRollout ${rolloutName} belongs to another DaemonSet, so nothing is rolled out. If it stays, delete it: kubectl delete daemonrollout ${rolloutName} -n ${daemonSet.namespace}.`;
      warnOnce('object', 'DaemonRolloutConflict', 'Reserve', note);
    },
  };
};
