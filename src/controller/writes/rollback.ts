import { compareVersions, controllerRevisions, isKubeError, type KubeClient } from '../../kube/index.ts';
import { type Ledger, recordedTemplate } from '../../rollout/index.ts';
import { type Clock, createKeyedBackoff } from '../../runtime/index.ts';
import type { RolloutEvents } from '../events/rollout-events.ts';
import type { DaemonSetView } from '../kind.ts';
import type { KindAdapter } from '../kind-adapter.ts';

export type RollbackOutcome =
  /** resourceVersion of the DaemonSet as patched: nothing is decided before the watch has delivered it. */
  | { kind: 'done'; resourceVersion: string }
  /** The DaemonSet has changed since the decision. */
  | { kind: 'changed' }
  /** The revision to go back to is no longer kept. */
  | { kind: 'impossible' }
  /** `reason`: the API server's reason; undefined without a response. */
  | { kind: 'failed'; reason: string | undefined; message: string };

const failed = (error: unknown): RollbackOutcome => {
  if (!isKubeError(error)) throw error;
  return { kind: 'failed', reason: error.status > 0 ? error.code : undefined, message: error.message };
};

/**
 * Restores the template of an earlier revision, as `kubectl rollout undo` does: one write, which is refused if the
 * DaemonSet has changed since it was read.
 */
export const rollBack = async <V extends DaemonSetView>(
  client: KubeClient,
  adapter: Pick<KindAdapter<V, unknown>, 'restoreTemplate'>,
  view: V,
  badHash: string,
  to: { name: string },
  signal: AbortSignal,
): Promise<RollbackOutcome> => {
  const { namespace } = view;
  let template: object | undefined;
  try {
    template = recordedTemplate(await client.get(controllerRevisions, { namespace, name: to.name }, { signal }));
  } catch (error) {
    if (!isKubeError(error, 'NotFound')) return failed(error);
  }
  if (!template) return { kind: 'impossible' };
  try {
    return { kind: 'done', resourceVersion: await adapter.restoreTemplate(view, template, badHash, signal) };
  } catch (error) {
    return isKubeError(error, 'Conflict') ? { kind: 'changed' } : failed(error);
  }
};

export interface RollbackOptions<V extends DaemonSetView> {
  client: KubeClient;
  clock: Clock;
  ledger: Ledger;
  events: RolloutEvents;
  adapter: Pick<KindAdapter<V, unknown>, 'restoreTemplate'>;
}

/** The rollbacks of one DaemonSet: retried with back-off, and never decided on top of one that the watch lacks. */
export const createRollback = <V extends DaemonSetView>(options: RollbackOptions<V>) => {
  const { client, clock, ledger, events, adapter } = options;
  const backoff = createKeyedBackoff();
  /** Our own write to the DaemonSet, until the watch has delivered it. */
  let awaited: { resourceVersion: string } | undefined;

  return {
    /** The watch is behind our own write to the DaemonSet. */
    awaitsWatch: (): boolean => awaited !== undefined,
    delivered: ({ resourceVersion }: Pick<V, 'resourceVersion'>): void => {
      if (awaited && (compareVersions(resourceVersion, awaited.resourceVersion) ?? 0) >= 0) awaited = undefined;
    },
    /** Returns when to try again, epoch ms; Infinity if an event comes first. */
    async run(to: { name: string; hash: string }, view: V, signal: AbortSignal): Promise<number> {
      const { target } = ledger.state;
      const nextAttemptAt = backoff.nextAttemptAt(to.hash, clock.now());
      if (nextAttemptAt > clock.now()) return nextAttemptAt;
      if (!target || awaited) return Number.POSITIVE_INFINITY;
      const outcome = await rollBack(client, adapter, view, target.hash, to, signal);
      switch (outcome.kind) {
        case 'done':
          awaited = { resourceVersion: outcome.resourceVersion };
          events.rolledBack(target.name, to.name);
          return Number.POSITIVE_INFINITY;
        case 'impossible':
          ledger.patchState({ lastComplete: undefined }, clock.now());
          events.rollbackImpossible(to.name);
          return Number.POSITIVE_INFINITY;
        case 'failed':
          if (outcome.reason !== undefined) events.rollbackRefused(to.name, outcome.reason, outcome.message);
          break;
        case 'changed':
          // The watch delivers the change.
          break;
      }
      backoff.failed(to.hash, clock.now());
      return backoff.nextAttemptAt(to.hash, clock.now());
    },
  };
};
