import { isKubeError, type KubeClient } from '../../kube/index.ts';
import type { OutsideHold } from '../../rollout/index.ts';
import type { Clock } from '../../runtime/index.ts';
import type { AdvancedView } from '../advanced-view.ts';
import { IN_THE_WAY, kruiseHolder, kruiseObstacle, nativeObstacle, type Obstacle } from './obstacles.ts';

/** Who is at work on the same pods, as a leader would find it; what the reader may not look at is taken for nobody. */
export const readObstacle = async (
  client: KubeClient,
  clock: Pick<Clock, 'now'>,
  view: Pick<AdvancedView, 'namespace' | 'podSelector' | 'deleted'>,
): Promise<OutsideHold | undefined> => {
  if (view.deleted) return { kind: 'deleted' };
  const { signal } = new AbortController();
  const look = async (find: () => Promise<Obstacle | undefined>): Promise<Obstacle | undefined> => {
    try {
      return await find();
    } catch (error) {
      if (isKubeError(error, 'Forbidden')) return undefined;
      throw error;
    }
  };
  const [kruise, twin] = await Promise.all([
    look(async () => {
      const holder = await kruiseHolder(client, clock, signal);
      return holder === undefined ? undefined : kruiseObstacle(holder);
    }),
    look(() => nativeObstacle(client, view, signal)),
  ]);
  const obstacle = kruise ?? twin;
  return obstacle && { kind: 'invalid', errors: [obstacle.error], what: IN_THE_WAY };
};
