import { type Generator } from '../../support/index.ts';
import type { DaemonSetPlan, Hook, Operation, UserOperation } from './plan.ts';

export interface LifecycleOptions {
  chance: Generator;
  one: <T>(items: readonly T[]) => T;
  nodes: number;
  budgets: readonly string[];
  /** When all faults end, ms; the last release follows a second later. */
  over: number;
  put: (at: number, operation: Operation) => void;
}

const FIRST_MS = 6_000;

/** Generates what DaemonSets go through besides rollouts: hooks, image pulls, partitions, and changes by users. */
export const createLifecycleGenerator = ({ chance, one, nodes, budgets, over, put }: LifecycleOptions) => {
  const hook = (): Hook => ({
    by: one(['label', 'finalizer'] as const),
    markPodNotReady: chance.happens(0.5),
    drainMs: chance.between(0, 8_000),
    ...(chance.happens(0.5) && { timeoutSeconds: chance.between(1, 20) }),
  });
  const share = (): number | string => (chance.happens(0.5) ? chance.between(0, nodes) : `${chance.between(0, 100)}%`);
  const soon = (): number => chance.between(FIRST_MS, over - 1);

  /** Random options of a DaemonSet. Owners pull images themselves, and decide which nodes are updated. */
  const traits = ({ kind, model }: Pick<DaemonSetPlan, 'kind' | 'model'>): Partial<DaemonSetPlan> => ({
    ...(kind === 'advanced' && chance.happens(0.3) && { hook: hook() }),
    ...(model !== 'ota' &&
      chance.happens(0.3) && {
        predownload: one(['required', 'required', 'preferred'] as const),
        ...(chance.happens(0.5) && { parallelism: one(['1', '2', '50%']) }),
        ...(chance.happens(0.7) && { pullSeconds: chance.between(5, 30) }),
      }),
    ...(model !== 'ota' &&
      kind === 'advanced' &&
      chance.happens(0.15) && { progressive: true, partition: chance.between(1, nodes) }),
  });

  /** Adds operations on the DaemonSet during its rollouts. `index`: its place in the plan. */
  const walk = (set: DaemonSetPlan, index: number): void => {
    // Nothing happens after all faults have ended.
    const to = (at: number, operation: UserOperation): void => {
      if (at < over) put(at, index === 0 ? operation : { ...operation, set: index });
    };
    if (set.hook && chance.happens(0.5)) {
      const at = soon();
      to(at, { do: 'drainer', ms: chance.happens(0.5) ? undefined : chance.between(0, 60_000) });
      if (chance.happens(0.7)) to(at + chance.between(1_000, 60_000), { do: 'drainer', ms: set.hook.drainMs });
    }
    if (set.hook && chance.happens(0.2)) {
      const at = soon();
      to(at, { do: 'hook', on: false });
      to(at + chance.between(500, 30_000), { do: 'hook', on: true });
    }
    if (set.predownload !== undefined) {
      for (let slow = chance.between(0, 2); slow > 0; slow -= 1) {
        const node = `node-${chance.between(0, nodes - 1)}`;
        put(soon(), { do: 'slow-pulls', node, ms: chance.between(2_000, 40_000) });
      }
      if (chance.happens(0.3))
        to(soon(), { do: 'release', image: `app:nowhere-${chance.between(1, 9)}--not-pullable` });
      if (chance.happens(0.3)) to(soon(), { do: 'predownload', mode: one(['off', 'preferred', 'required'] as const) });
    }
    if (set.model === 'ota') return;
    if (set.partition !== undefined || chance.happens(0.25)) {
      let at = soon();
      for (let steps = chance.between(1, 4); steps > 0; steps -= 1) {
        to(at, { do: 'partition', nodes: share() });
        at += chance.between(500, 20_000);
      }
    }
    if (chance.happens(0.15)) {
      const at = soon();
      to(at, { do: 'select', wave: one(['0', '1']) });
      const wave = one(['0', '1', 'all']);
      if (chance.happens(0.5))
        to(at + chance.between(500, 30_000), { do: 'select', wave: wave === 'all' ? undefined : wave });
    }
    if (chance.happens(0.1)) {
      const at = soon();
      to(at, { do: 'manual', manual: true });
      if (chance.happens(0.7)) to(at + chance.between(500, 30_000), { do: 'manual', manual: false });
    }
    if (set.kind === 'advanced')
      for (let times = chance.happens(0.2) ? chance.between(1, 2) : 0; times > 0; times -= 1)
        to(soon(), { do: 'strategy', strategy: one(['recreate', 'in-place', 'surge'] as const) });
    if (chance.happens(0.15)) to(soon(), { do: 'budget', limit: one(budgets) });
  };

  /** Further DaemonSets, with their own rollouts. */
  const others = (model: DaemonSetPlan['model']): DaemonSetPlan[] => {
    // The owners of a plan decide on one DaemonSet only.
    if (model === 'ota' || !chance.happens(0.25)) return [];
    return Array.from({ length: chance.between(1, 2) }, (_, index) => {
      const kind = one(['native', 'advanced'] as const);
      const set: DaemonSetPlan = {
        kind,
        strategy: kind === 'native' ? 'recreate' : one(['recreate', 'in-place', 'surge'] as const),
        limit: one(budgets),
        settleSeconds: one([0, 2, 10]),
        minReadySeconds: one([0, 0, 0, 5]),
        ...traits({ kind }),
      };
      for (let release = chance.between(1, 2); release > 0; release -= 1)
        put(soon(), { do: 'release', image: `app:v${chance.between(1, 4)}`, set: index + 1 });
      put(over + 1_000, { do: 'release', image: 'app:final', set: index + 1 });
      walk(set, index + 1);
      return set;
    });
  };
  return { traits, walk, others };
};
