import { type Generator } from '../../../test/support/index.ts';
import { type VirtualClock } from '../../runtime/index.ts';
import type { Change, ModelCluster } from './model-cluster.ts';

export interface WatchOptions {
  time: VirtualClock;
  chance: Generator;
  cluster: ModelCluster;
  /** The longest that a change is on its way at present, ms. */
  lagMs: () => number;
  deliver: (change: Change) => void;
  /** The initial list of every stream has been delivered. */
  synced: () => void;
}

/**
 * Streams of changes, each in its own order and with its own delays: what happened later to a pod may be known earlier
 * than what happened before to its node. Returns what ends them.
 */
export const watch = ({ time, chance, cluster, lagMs, deliver, synced }: WatchOptions): (() => void) => {
  const lastAt = new Map<Change['stream'], number>();
  let open = true;
  let initial = 1;

  const send = (change: Change, then?: () => void): void => {
    const at = Math.max(lastAt.get(change.stream) ?? 0, time.now() + chance.between(1, Math.max(1, lagMs())));
    lastAt.set(change.stream, at);
    time.timer(at - time.now(), () => {
      if (!open) return;
      deliver(change);
      then?.();
    });
  };
  const listed = (): void => {
    initial -= 1;
    if (initial === 0) synced();
  };
  const list = (change: Change): void => {
    initial += 1;
    send(change, listed);
  };

  for (const { facts } of cluster.nodes.values()) list({ stream: 'nodes', node: facts, gone: false });
  for (const pod of cluster.pods.values()) list({ stream: 'pods', pod, gone: false });
  list({ stream: 'spec', spec: cluster.spec });
  listed();
  const stop = cluster.listen((change) => send(change));
  return () => {
    open = false;
    stop();
  };
};
