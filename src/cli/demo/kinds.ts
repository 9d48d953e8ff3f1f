import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import { type AdvancedDaemonSet, createAdvancedKind } from '../../advanced/index.ts';
import { type DaemonSetView, type Kind, type ReadOptions, readRollout } from '../../controller/index.ts';
import type { PatchOptions, Resource } from '../../kube/index.ts';
import { nativeKind } from '../../native/index.ts';
import type { Decision, Ledger } from '../../rollout/index.ts';

/** A DaemonSet of either kind. */
export type DemoDaemonSet = DaemonSet | AdvancedDaemonSet;

/** A kind of DaemonSet, as the demo writes and reads it. */
export interface DemoKind {
  resource: Resource<DemoDaemonSet>;
  /** How a part of it is changed: a list of containers is merged by name, or replaced. */
  patch: PatchOptions['type'];
  rolloutName(daemonSet: string): string;
  /** The product's own reading; undefined for one that is not served. */
  read(
    options: Pick<ReadOptions, 'client' | 'clock' | 'namespace' | 'name'>,
  ): Promise<{ ledger: Ledger; decision: Decision } | undefined>;
}

const kindOf = <D extends DemoDaemonSet, V extends DaemonSetView, P>(
  kind: Kind<D, V, P>,
  patch: DemoKind['patch'],
): DemoKind => ({
  resource: kind.resource,
  patch,
  rolloutName: (daemonSet) => kind.rolloutName(daemonSet),
  read: (options) => readRollout(kind, options),
});

export const demoKinds = {
  native: kindOf(nativeKind, 'strategic'),
  advanced: kindOf(createAdvancedKind(), 'merge'),
} as const;
