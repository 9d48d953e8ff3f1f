import { isDeepStrictEqual } from 'node:util';
import { compareVersions } from '../../kube/index.ts';
import type { DaemonSetView } from '../kind.ts';

export interface RefusalsOptions<V extends DaemonSetView> {
  /** The DaemonSet as the watch has delivered it. */
  view: () => V;
  /** A consistent read of it; undefined: it is gone, or no longer managed. */
  read: (signal: AbortSignal) => Promise<V | undefined>;
  /** Called each time that the watch still has to deliver this version. */
  awaits: (resourceVersion: string) => void;
}

/** The rollout plan is an object of its own, with a watch of its own. */
const asked = ({ generation, policy }: DaemonSetView): object => ({
  generation,
  policy: { ...policy.policy, plan: undefined },
});

/**
 * A write that is refused because the DaemonSet has changed says that the watch is behind, by a moment or by a minute: the
 * template or the budget that it has delivered may be over long since. The DaemonSet is read, and if it asks for something
 * else by now, the watch has to deliver that first.
 */
export const createRefusals = <V extends DaemonSetView>({ view, read, awaits }: RefusalsOptions<V>) => {
  let refused = false;
  let awaited: { resourceVersion: string } | undefined;

  const isBehind = (resourceVersion: string): boolean =>
    (compareVersions(view().resourceVersion, resourceVersion) ?? 0) < 0;
  const stillAwaited = (): { resourceVersion: string } | undefined => {
    if (awaited && !isBehind(awaited.resourceVersion)) awaited = undefined;
    return awaited;
  };

  return {
    /** The API server has refused a write: the DaemonSet has changed. */
    refused: (): void => {
      refused = true;
    },
    /** A write was refused, and nobody knows yet what has changed. */
    mustRead: (): boolean => refused && !stillAwaited(),
    /** Is the watch behind what the DaemonSet asks for? Reads it if necessary. */
    async awaitsWatch(signal: AbortSignal): Promise<boolean> {
      const version = stillAwaited()?.resourceVersion;
      if (version !== undefined) {
        awaits(version);
        return true;
      }
      if (!refused) return false;
      refused = false;
      let found: V | undefined;
      try {
        found = await read(signal);
      } finally {
        // It failed, or the watch reports the removal.
        if (!found) refused = true;
      }
      if (!found) return true;
      if (isBehind(found.resourceVersion) && !isDeepStrictEqual(asked(found), asked(view()))) awaited = found;
      return awaited !== undefined;
    },
  };
};
