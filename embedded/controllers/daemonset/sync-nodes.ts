import type { Affinity, PodSpec, Toleration } from 'kubernetes-types/core/v1.d.ts';
import { isKubeError, pods } from '../../../src/kube/index.ts';
import { schedulingConstraints } from '../../../src/rollout/index.ts';
import { type Clock, errorText } from '../../../src/runtime/index.ts';
import type { StoredDaemonSet, StoredPod } from '../../resources.ts';
import type { ApiServer } from '../../types.ts';
import { type EventRecorder, involvedObject } from '../events.ts';
import { ownerReference } from './controller-ref-manager.ts';
import { HASH_LABEL } from './history.ts';
import { GENERATION_LABEL, type PodChanges, templateGeneration } from './manage.ts';

// Expectations that aren't met by then expire, in case the watch missed an event.
const FORGOTTEN_AFTER_MS = 300_000;

export interface Expectations {
  expect: (key: string, creations: number, deletions: number) => void;
  created: (key: string, count?: number) => void;
  deleted: (key: string) => void;
  forget: (key: string) => void;
  satisfied(key: string): boolean;
}

/** Creations and deletions, by key, that the watch hasn't reported yet. */
export const createExpectations = (clock: Clock): Expectations => {
  const pending = new Map<string, { creations: number; deletions: number; at: number }>();
  const lower = (key: string, creations: number, deletions: number): void => {
    const found = pending.get(key);
    if (!found) return;
    found.creations -= creations;
    found.deletions -= deletions;
  };
  return {
    expect: (key, creations, deletions) => void pending.set(key, { creations, deletions, at: clock.now() }),
    created: (key, count = 1) => lower(key, count, 0),
    deleted: (key) => lower(key, 0, 1),
    forget: (key) => void pending.delete(key),
    satisfied(key) {
      const found = pending.get(key);
      if (!found) return true;
      return (found.creations <= 0 && found.deletions <= 0) || clock.now() - found.at > FORGOTTEN_AFTER_MS;
    },
  };
};

/** The most pods to create, and the most to delete, in one sync. */
const BURST = 250;

// An added toleration replaces one with the same key, effect, operator and value.
const mergeTolerations = (own: readonly Toleration[], added: readonly Toleration[]): Toleration[] => {
  const key = ({ key: name, operator, value, effect }: Toleration): string =>
    JSON.stringify([name, operator, value, effect]);
  const replaced = new Set(added.map(key));
  return [...own.filter((toleration) => !replaced.has(key(toleration))), ...added];
};

const pinTo = (affinity: Affinity | undefined, node: string): Affinity => ({
  ...affinity,
  nodeAffinity: {
    ...affinity?.nodeAffinity,
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }],
    },
  },
});

/** Builds the pods of one DaemonSet, which share all but the node affinity. */
const podMaker = (daemonSet: StoredDaemonSet, hash: string): ((node: string) => object) => {
  const { metadata, spec } = daemonSet;
  const template = spec?.template;
  const generation = templateGeneration(daemonSet);
  const base: PodSpec = template?.spec ?? { containers: [] };
  const { labels, annotations, finalizers } = template?.metadata ?? {};
  const podMetadata = {
    generateName: `${metadata.name}-`,
    namespace: metadata.namespace,
    labels: { ...labels, ...(generation !== undefined && { [GENERATION_LABEL]: generation }), [HASH_LABEL]: hash },
    ...(annotations && { annotations }),
    ...(finalizers && { finalizers }),
    ownerReferences: [ownerReference(daemonSet)],
  };
  const own = base.tolerations ?? [];
  const shared = {
    ...base,
    tolerations: mergeTolerations(own, schedulingConstraints(base).tolerations.slice(own.length)),
  };
  return (node) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: podMetadata,
    spec: { ...shared, affinity: pinTo(base.affinity, node) },
  });
};

export interface SyncContext {
  apiServer: ApiServer;
  recorder: EventRecorder;
  expectations: Expectations;
}

const TERMINATING = 'NamespaceTerminating';

const isEnding = (error: unknown): boolean =>
  isKubeError(error, 'Forbidden') && (error.details?.causes?.some(({ reason }) => reason === TERMINATING) ?? false);

/**
 * Slow start: creates batches of 1, 2, 4 and so on, and stops after a batch with a failure, because the rest would most
 * likely fail the same way.
 */
const createAll = (
  { apiServer, recorder, expectations }: SyncContext,
  key: string,
  daemonSet: StoredDaemonSet,
  hash: string,
  on: readonly string[],
): unknown[] => {
  const make = podMaker(daemonSet, hash);
  const subject = involvedObject(daemonSet);
  const failures: unknown[] = [];
  for (let at = 0, size = 1; at < on.length && failures.length === 0; at += size, size *= 2) {
    for (const node of on.slice(at, at + size)) {
      try {
        const pod = apiServer.create<object>(pods, make(node)) as StoredPod;
        recorder.record(subject, 'Normal', 'SuccessfulCreate', `Created pod: ${pod.metadata.name}`);
      } catch (error) {
        expectations.created(key);
        if (isEnding(error)) continue;
        recorder.record(subject, 'Warning', 'FailedCreate', `Error creating: ${errorText(error)}`);
        failures.push(error);
      }
    }
    if (failures.length > 0) expectations.created(key, Math.max(0, on.length - at - size));
  }
  return failures;
};

/** Creates and deletes the pods; throws the first failure after trying all. */
export const syncNodes = (
  tools: SyncContext,
  key: string,
  daemonSet: StoredDaemonSet,
  hash: string,
  changes: PodChanges,
): void => {
  const { apiServer, recorder, expectations } = tools;
  const createOn = changes.createOn.slice(0, BURST);
  const remove = changes.remove.slice(0, BURST);
  expectations.expect(key, createOn.length, remove.length);
  const failures = createAll(tools, key, daemonSet, hash, createOn);
  const subject = involvedObject(daemonSet);
  for (const name of remove) {
    try {
      apiServer.delete(pods, { namespace: daemonSet.metadata.namespace, name });
      recorder.record(subject, 'Normal', 'SuccessfulDelete', `Deleted pod: ${name}`);
    } catch (error) {
      expectations.deleted(key);
      if (isKubeError(error, 'NotFound')) continue;
      recorder.record(subject, 'Warning', 'FailedDelete', `Error deleting: ${errorText(error)}`);
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
};
