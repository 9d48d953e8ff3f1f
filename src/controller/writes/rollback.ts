import { controllerRevisions, isKubeError, type KubeClient } from '../../kube/index.ts';
import { type Ledger, recordedTemplate } from '../../rollout/index.ts';
import { type Clock, createKeyedBackoff } from '../../runtime/index.ts';
import type { RolloutEvents } from '../events/rollout-events.ts';
import type { DaemonSetView } from '../kind.ts';
import type { KindAdapter, ReconcilerContext } from '../kind-adapter.ts';

export type RollbackOutcome =
  | { kind: 'done' }
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

export interface RollbackOptions<V extends DaemonSetView> extends Pick<ReconcilerContext<V, unknown>, 'accept'> {
  client: KubeClient;
  clock: Clock;
  ledger: Ledger;
  events: RolloutEvents;
  adapter: Pick<KindAdapter<V, unknown>, 'restoreTemplate'>;
}

/**
 * Restores the template of an earlier revision, as `kubectl rollout undo` does: one write, which is refused if the
 * DaemonSet has changed since it was read.
 */
export const rollBack = async <V extends DaemonSetView>(
  { client, adapter, accept }: Pick<RollbackOptions<V>, 'client' | 'adapter' | 'accept'>,
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
    accept(await adapter.restoreTemplate(view, template, badHash, signal));
    return { kind: 'done' };
  } catch (error) {
    return isKubeError(error, 'Conflict') ? { kind: 'changed' } : failed(error);
  }
};

/** The rollbacks of one DaemonSet, retried with back-off. */
export const createRollback = <V extends DaemonSetView>(options: RollbackOptions<V>) => {
  const { clock, ledger, events } = options;
  const backoff = createKeyedBackoff();

  return {
    /** `nextAttemptAt`: epoch ms; Infinity if an event comes first. */
    async run(
      to: { name: string; hash: string },
      view: V,
      signal: AbortSignal,
    ): Promise<{ changed: boolean; nextAttemptAt: number }> {
      const { target } = ledger.state;
      const nextAttemptAt = backoff.nextAttemptAt(to.hash, clock.now());
      if (nextAttemptAt > clock.now()) return { changed: false, nextAttemptAt };
      if (!target) return { changed: false, nextAttemptAt: Number.POSITIVE_INFINITY };
      const outcome = await rollBack(options, view, target.hash, to, signal);
      switch (outcome.kind) {
        case 'done':
          events.rolledBack(target.name, to.name);
          return { changed: true, nextAttemptAt: Number.POSITIVE_INFINITY };
        case 'impossible':
          ledger.patchState({ lastComplete: undefined }, clock.now());
          events.rollbackImpossible(to.name);
          return { changed: false, nextAttemptAt: Number.POSITIVE_INFINITY };
        case 'failed':
          if (outcome.reason !== undefined) events.rollbackRefused(to.name, outcome.reason, outcome.message);
          break;
        case 'changed':
          // The watch delivers the change.
          break;
      }
      backoff.failed(to.hash, clock.now());
      return { changed: false, nextAttemptAt: backoff.nextAttemptAt(to.hash, clock.now()) };
    },
  };
};
