import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { AuditRecord } from '../conformance/index.ts';
import { askedOf, nodeOf } from '../invariants/index.ts';

const HASH = 'controller-revision-hash';

/** A write that was cut off is logged when its caller is given up; its effect has been observed by then. */
const OBSERVED_WITHIN_MS = 5_000;

const succeeded = ({ code }: AuditRecord): boolean => code >= 200 && code < 300;
/** A refusal is certain; the outcome of a failure, or of a call without a status, is not. */
const isUnclear = ({ code }: AuditRecord): boolean => code < 200 || code >= 499;
const isWrite = ({ verb }: AuditRecord): boolean => verb === 'create' || verb === 'patch' || verb === 'delete';
const isOfPods = ({ group, resource }: AuditRecord): boolean => group === '' && /^pods\b/.test(resource);

const metadataOf = (object: unknown): NonNullable<Pod['metadata']> => (object as Pod | undefined)?.metadata ?? {};
const versionOf = ({ response }: AuditRecord): string => {
  const { uid = '', resourceVersion = '' } = metadataOf(response);
  return `${uid}/${resourceVersion}`;
};

/** A delete without a grace period first marks the pod and then removes it: only the removal counts. */
const isHalfDone = ({ verb, response }: AuditRecord): boolean => {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers = [] } = metadataOf(response);
  const isLeaving = deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0;
  return verb !== 'delete' && isLeaving && finalizers.length === 0;
};

/** Whether the object contains everything that was requested. Lists are compared as sets. */
const holds = (found: unknown, wanted: unknown): boolean => {
  if (Array.isArray(wanted))
    return Array.isArray(found) && wanted.every((item) => found.some((other) => holds(other, item)));
  if (typeof wanted !== 'object' || wanted === null) return found === wanted;
  const fields = (typeof found === 'object' && found !== null ? found : {}) as Record<string, unknown>;
  return Object.entries(wanted).every(([key, value]) =>
    key.startsWith('$') || value === null ? true : holds(fields[key], value),
  );
};

/** Whether the observation is the effect of a call whose response was lost. */
const isDoneBy = (call: AuditRecord, observation: AuditRecord): boolean => {
  if (observation.receivedAt < call.receivedAt || observation.receivedAt > call.answeredAt + OBSERVED_WITHIN_MS)
    return false;
  const [asked, seen] = [askedOf(call.request), observation.response as Pod];
  const { uid, ownerReferences, labels, deletionTimestamp } = metadataOf(seen);
  if (call.verb === 'delete') {
    const { preconditions } = (call.request ?? {}) as { preconditions?: { uid?: string } };
    return deletionTimestamp !== undefined && preconditions?.uid === uid;
  }
  const { resourceVersion: _, ...metadata } = metadataOf(asked);
  if (call.verb === 'patch') return call.name === observation.name && holds(seen, { ...asked, metadata });
  const owner = metadata.ownerReferences?.find(({ controller }) => controller)?.uid;
  const isOurs = ownerReferences?.some((other) => other.uid === owner) ?? false;
  const isThere = asked !== undefined && nodeOf(asked) === nodeOf(seen);
  return isOurs && isThere && labels?.[HASH] === metadata.labels?.[HASH];
};

/**
 * The complete history of the cluster: the audit log, and what the watcher observed and the log omits. The effect of a call
 * whose response was lost is attributed to that call.
 */
export const completeHistory = (
  log: readonly AuditRecord[],
  observations: readonly AuditRecord[],
  product: (user: string) => boolean,
): AuditRecord[] => {
  const told = new Set(log.filter(succeeded).map(versionOf));
  const missing: AuditRecord[] = [];
  for (const observation of observations) {
    const version = versionOf(observation);
    if (told.has(version) || (isOfPods(observation) && isHalfDone(observation))) continue;
    told.add(version);
    missing.push(observation);
  }
  const found: AuditRecord[] = [];
  const uidOf = ({ response }: AuditRecord): string => metadataOf(response).uid ?? '';
  // A pod is created once and deleted once: later observations of it are not the effect of another call.
  const done = new Set(log.filter(succeeded).map((call) => `${call.verb} ${uidOf(call)}`));
  for (const call of log) {
    if (!product(call.user) || !isOfPods(call) || !isWrite(call) || !isUnclear(call)) continue;
    const index = missing.findIndex((observation) => {
      const isOver = call.verb !== 'patch' && done.has(`${call.verb} ${uidOf(observation)}`);
      return isOfPods(observation) && !isOver && isDoneBy(call, observation);
    });
    const [observation] = index < 0 ? [] : missing.splice(index, 1);
    if (!observation) continue;
    done.add(`${call.verb} ${uidOf(observation)}`);
    found.push({ ...call, name: observation.name, code: 200, response: observation.response });
  }
  return [...log, ...found, ...missing];
};
