import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import { type ReadOptions, type RolloutReading, readRollout as read } from '../controller/index.ts';
import { nativeKind } from './native-kind.ts';

/** The DaemonSet does not ask for a rollout by edgeset. */
export class NotOptedInError extends Error {
  readonly code = 'NotOptedIn';
  constructor(namespace: string, name: string) {
    super(
      `DaemonSet ${namespace}/${name} did not opt in: set spec.updateStrategy.type to OnDelete and annotate it with apps.openyurt.io/update-strategy=auto`,
    );
    this.name = 'NotOptedInError';
  }
}

/**
 * Reads the rollout of an apps/v1 DaemonSet as the manager would on starting, and decides on it without carrying anything
 * out. Throws `NotOptedInError`, or a `KubeError`.
 */
export const readRollout = async (options: ReadOptions<DaemonSet>): Promise<RolloutReading> => {
  const reading = await read(nativeKind, options);
  if (!reading) throw new NotOptedInError(options.namespace, options.name);
  return reading;
};
