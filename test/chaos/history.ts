import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { AuditRecord } from '../conformance/index.ts';
import { nodeOf } from '../invariants/index.ts';

const HASH = 'controller-revision-hash';

/** A write that was cut off is told of when its caller is given up; what it did is seen by then. */
const SEEN_WITHIN_MS = 5_000;

const succeeded = ({ code }: AuditRecord): boolean => code >= 200 && code < 300;
/** Refusals are certain; a failure, or no status at all, is not. */
const isUnclear = ({ code }: AuditRecord): boolean => code < 200 || code >= 499;
const isWrite = ({ verb }: AuditRecord): boolean => verb === 'create' || verb === 'patch' || verb === 'delete';
const isOfPods = ({ group, resource }: AuditRecord): boolean => group === '' && /^pods\b/.test(resource);

const metadataOf = (object: unknown): NonNullable<Pod['metadata']> => (object as Pod | undefined)?.metadata ?? {};
const versionOf = ({ response }: AuditRecord): string => {
  const { uid = '', resourceVersion = '' } = metadataOf(response);
  return `${uid}/${resourceVersion}`;
};

/** A pod without grace is marked before it is taken away, by one and the same delete: that is told by what follows. */
const isHalfDone = ({ verb, response }: AuditRecord): boolean => {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers = [] } = metadataOf(response);
  const isLeaving = deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0;
  return verb !== 'delete' && isLeaving && finalizers.length === 0;
};

/** Whether every part of what was asked for is there. Lists are taken for what names their items. */
const holds = (found: unknown, wanted: unknown): boolean => {
  if (Array.isArray(wanted))
    return Array.isArray(found) && wanted.every((item) => found.some((other) => holds(other, item)));
  if (typeof wanted !== 'object' || wanted === null) return found === wanted;
  const fields = (typeof found === 'object' && found !== null ? found : {}) as Record<string, unknown>;
  return Object.entries(wanted).every(([key, value]) =>
    key.startsWith('$') || value === null ? true : holds(fields[key], value),
  );
};

/** Whether what was seen is what a call did that nobody answered. */
const isDoneBy = (call: AuditRecord, observation: AuditRecord): boolean => {
  if (observation.receivedAt < call.receivedAt || observation.receivedAt > call.answeredAt + SEEN_WITHIN_MS)
    return false;
  const [asked, seen] = [call.request as Pod | undefined, observation.response as Pod];
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
 * All that is known of what became of the cluster: the audit log, completed by what a watcher saw and the log does not
 * tell. What a call did whose answer was lost becomes that call's doing.
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
  // A pod is made once, and deleted once: what is seen of it later is not the doing of another call.
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
