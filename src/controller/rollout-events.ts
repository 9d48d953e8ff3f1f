import type { EventRecorder } from '../kube/index.ts';
import type { DaemonRolloutStatus, PolicyError, WrittenStatus } from '../rollout/index.ts';
import { formatPolicyError } from '../rollout/index.ts';
import { type PodWriteKind, podWriteTexts } from './deed.ts';
import type { DaemonSetRef } from './kind.ts';

type Type = 'Normal' | 'Warning';

const condition = (status: DaemonRolloutStatus | undefined, type: string) =>
  status?.conditions?.find((candidate) => candidate.type === type);

/** What is wrong with the policy; empty when it is valid. */
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

/** Tells a DaemonSet's story as Events on it. What is told follows from two statuses, so that a restart repeats nothing. */
export const createRolloutEvents = (events: EventRecorder, daemonSet: DaemonSetRef) => {
  const { rolloutName, ...regarding } = daemonSet;
  const warned = new Set<string>();
  const warnedOnce = new Set<string>();
  /** Pods are told of a revision before its rollout is: what was refused meanwhile is still told. */
  let unannounced = { revision: '', reasons: new Set<string>() };

  const tell = (type: Type, reason: string, action: string, note: string): void =>
    events.event({ regarding, type, reason, action, note });

  /** Once for a rollout, as by what was refused and the API server's word for it: never once per retry. */
  const once = (what: string, reason: string, action: string, note: string): void => {
    if (warnedOnce.has(what)) return;
    warnedOnce.add(what);
    tell('Warning', reason, action, note);
  };

  return {
    /** An Event of the kind's own. */
    tell,
    /** A Warning of the kind's own, once for a rollout and `what`. */
    once,
    /** Compares the status that was written with the one before. */
    statusWritten(before: DaemonRolloutStatus | undefined, after: WrittenStatus): void {
      const message = (type: string): string => condition(after, type)?.message ?? '';
      const invalid = invalidity(after);
      if (invalid && invalid !== invalidity(before)) tell('Warning', 'InvalidPolicy', 'Validate', invalid);
      if (before?.rollout !== after.rollout && after.startedAt !== undefined) {
        warnedOnce.clear();
        const { outdated, broken, held, settling, offlineOutdated } = after.nodes;
        const reachable = outdated + broken + held + settling + after.nodes.updating;
        const target = after.target?.revision;
        const [action, note] = (
          {
            auto: [
              'Roll',
              `Rolling out ${target} to ${reachable} online nodes, at most ${after.budget.nodes} at a time.`,
            ],
            ota: ['Announce', `Announcing ${target} to ${reachable + offlineOutdated} nodes, whose owners decide.`],
            manual: ['Await', `${reachable + offlineOutdated} nodes get ${target} when their pods are deleted.`],
          } as const
        )[after.strategy ?? 'auto'];
        tell('Normal', 'RolloutStarted', action, note);
        if (offlineOutdated > 0 && (after.strategy ?? 'auto') === 'auto')
          tell(
            'Normal',
            'OfflineNodesSkipped',
            'Skip',
            `Skipping ${offlineOutdated} offline nodes; each is updated once it is back.`,
          );
      }
      // Once a rollout: the condition comes and goes with every node that returns on an older revision.
      if (after.finishedAt !== undefined && before?.finishedAt !== after.finishedAt && after.startedAt !== undefined)
        tell('Normal', 'RolloutCompleted', 'Complete', message('Complete'));
      const { failed = 0, failing: [first] = [] } = after.images ?? {};
      if (first && (before?.images?.failed ?? 0) === 0)
        once(
          'images',
          'FailedImagePull',
          'Pull',
          `Images of ${after.target?.revision} cannot be pulled ahead on ${failed} node${failed === 1 ? '' : 's'}; it is tried again. ${first.node}: ${first.message}`,
        );
      const halted = turned(before, after, 'Halted');
      if (halted === 'on') tell('Warning', 'RolloutHalted', 'Halt', message('Halted'));
      if (after.resumed !== undefined && before?.resumed !== after.resumed && before !== undefined)
        tell(
          'Normal',
          'RolloutResumed',
          'Resume',
          `Resumed by ${after.resumed}: the failures known so far are forgiven.`,
        );
      const paused = turned(before, after, 'Paused');
      if (paused === 'on') tell('Normal', 'RolloutPaused', 'Pause', message('Paused'));
      if (paused === 'off') tell('Normal', 'RolloutUnpaused', 'Unpause', 'The rollout goes on.');
    },
    policyWarning(warning: PolicyError): void {
      const text = formatPolicyError(warning);
      if (warned.has(text)) return;
      warned.add(text);
      tell('Warning', 'PolicyConflict', 'Validate', text);
    },
    podWritten(deed: PodWriteKind, pod: string, node: string): void {
      const { done, action, did } = podWriteTexts[deed];
      tell('Normal', done, action, did(pod, node));
    },
    podWriteRefused(deed: PodWriteKind, pod: string, node: string, reason: string, why: string): void {
      const { failed, action, could } = podWriteTexts[deed];
      once(`${deed} ${node} ${reason}`, failed, action, `Could not ${could(pod, node)}: ${why}`);
    },
    fenceRefused(pod: string, node: string, reason: string, why: string): void {
      const note = `Could not take back what was reserved for pod ${pod} on ${node}: ${why}`;
      once(`fence ${node} ${reason}`, 'FailedFence', 'Fence', note);
    },
    /** What refuses one pod mostly refuses them all: one Event for a revision and a reason. */
    announceRefused(pod: string, node: string, revision: string, reason: string, why: string): void {
      if (unannounced.revision !== revision) unannounced = { revision, reasons: new Set() };
      if (unannounced.reasons.has(reason)) return;
      unannounced.reasons.add(reason);
      const note = `Could not write condition PodNeedUpgrade of pod ${pod} on ${node}, and maybe of others; it is tried again: ${why}`;
      tell('Warning', 'FailedAnnounce', 'Announce', note);
    },
    rolledBack(from: string, to: string): void {
      tell('Warning', 'RolledBack', 'Rollback', `Put the template of ${to} back: ${from} failed.`);
    },
    rollbackRefused(to: string, reason: string, why: string): void {
      once(
        `rollback ${to} ${reason}`,
        'RollbackFailed',
        'Rollback',
        `Could not put the template of ${to} back: ${why}`,
      );
    },
    /** The object that should hold the reservations is another's. */
    rolloutNotOurs(): void {
      once(
        'object',
        'RolloutObjectInTheWay',
        'Reserve',
        `DaemonRollout ${rolloutName} belongs to another DaemonSet, so nothing is rolled out. If it stays, delete it: kubectl delete daemonrollout ${rolloutName}.`,
      );
    },
    rollbackImpossible(to: string): void {
      tell(
        'Warning',
        'RollbackFailed',
        'Rollback',
        `The template of ${to} is no longer kept, so the rollout stays halted.`,
      );
    },
  };
};
export type RolloutEvents = ReturnType<typeof createRolloutEvents>;
