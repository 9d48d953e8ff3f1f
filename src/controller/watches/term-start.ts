import { compareVersions } from '../../kube/index.ts';
import type { DaemonSetObject } from '../kind.ts';

export interface TermStartOptions {
  /** A consistent read of the DaemonSet; undefined: it is gone. */
  read: (signal: AbortSignal) => Promise<DaemonSetObject | undefined>;
  /** The version that the watch has delivered. */
  delivered: () => string;
  /** Called each time that the watch still has to deliver this version. */
  awaits: (resourceVersion: string) => void;
}

/**
 * The previous leader may have acted on a template, a budget or a pause that this process, asleep or cut off, has not
 * seen yet. Preconditions refuse updates of pods that have changed since; nothing refuses them for a changed DaemonSet.
 */
export const createTermStart = ({ read, delivered, awaits }: TermStartOptions) => {
  /** The DaemonSet as it was when this term of leadership began: the watch must have caught up with it. */
  let present: { resourceVersion: string } | undefined;
  return {
    async isBehind(signal: AbortSignal): Promise<boolean> {
      if (!present) {
        const found = await read(signal);
        // The watch reports that it is gone.
        if (!found) return true;
        present = { resourceVersion: found.metadata?.resourceVersion ?? '' };
      }
      const { resourceVersion } = present;
      const behind = (compareVersions(delivered(), resourceVersion) ?? 0) < 0;
      if (behind) awaits(resourceVersion);
      return behind;
    },
    /** Leadership is lost. */
    end(): void {
      present = undefined;
    },
  };
};
