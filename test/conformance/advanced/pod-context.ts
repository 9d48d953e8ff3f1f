import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { isKubeError, type KubeClient, pods } from '../../../src/kube/index.ts';
import { type AdvancedObject, advancedDaemonSets } from './api.ts';

/** A part of a cluster on which a test plays what a controller of Advanced DaemonSets would do, by hand. */
export interface PodTestContext {
  readonly client: KubeClient;
  readonly namespace: string;
  /** Ready, with the label `case: <namespace>`, and nobody else's. */
  readonly nodes: readonly string[];
  /** Now on the cluster's clock, epoch ms. */
  now: () => number;
  /** Resolves with what the probe yields once that is something. */
  until: <T>(what: string, probe: () => Promise<T | undefined>) => Promise<T>;
}

export const isReady = ({ metadata, status }: Pod): boolean =>
  metadata?.deletionTimestamp === undefined &&
  (status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false);

export const listPods = async ({ client, namespace }: PodTestContext): Promise<Pod[]> =>
  (await client.list(pods, { namespace })).items;

/** Makes the object and gives back what owner references need of it. */
export const createAdvanced = async (
  { client, namespace }: PodTestContext,
  version: 'v1alpha1' | 'v1beta1',
  spec: object,
): Promise<{ apiVersion: string; name: string; namespace: string; uid: string }> => {
  const object: AdvancedObject = { metadata: { name: 'app', namespace }, spec: { ...spec } };
  const made = await client.create(advancedDaemonSets(version), object);
  return { apiVersion: `apps.kruise.io/${version}`, name: 'app', namespace, uid: made.metadata?.uid ?? '' };
};

/** Until a get finds nothing. */
export const untilGone = ({ until }: PodTestContext, what: string, get: () => Promise<unknown>): Promise<true> =>
  until(`${what} is gone`, async () => {
    try {
      await get();
      return undefined;
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return true;
      throw error;
    }
  });
