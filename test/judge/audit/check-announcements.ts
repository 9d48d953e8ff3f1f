import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { isGateWrite } from '../state/pod-writes.ts';
import { tolerances } from '../tolerances.ts';
import type { AuditRecord } from './audit-record.ts';
import { inOrder } from './records.ts';

export interface AnnouncementOptions {
  namespace: string;
  daemonSet: string;
  /** Users whose writes are checked. */
  product: (user: string) => boolean;
  /** A writer may not know yet what happened within this time before. Default 1000. */
  lagMs?: number;
}

type Condition = NonNullable<NonNullable<Pod['status']>['conditions']>[number];

const NEED_UPGRADE = 'PodNeedUpgrade';
const APPROVED = 'UpgradeApproved';
const strategyKeys = ['apps.openyurt.io/update-strategy', 'apps.openyurt.io/upgrade-strategy'] as const;

const time = (at: number): string => new Date(at).toISOString().slice(11, 23);

const isOta = ({ metadata }: DaemonSet): boolean => {
  const [first, second] = strategyKeys.map((key) => metadata?.annotations?.[key]);
  return (first ?? second ?? '').trim().toLowerCase() === 'ota';
};

const conditionsOf = (pod: Pod | undefined): readonly Condition[] => pod?.status?.conditions ?? [];
const needOf = (pod: Pod | undefined): Condition | undefined =>
  conditionsOf(pod).find(({ type }) => type === NEED_UPGRADE);

/** Canonical JSON without null fields: two servers write objects differently. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) => {
    if (inner === null) return undefined;
    if (typeof inner !== 'object' || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });

/** Whether other conditions were removed or changed. Additional ones do not count: the log omits what a binding adds. */
const isOverwritten = (before: Pod, after: Pod): boolean => {
  const present = new Map(conditionsOf(after).map((condition) => [condition.type, canonical(condition)]));
  // An approval is removed together with the announcement that it answered.
  const mayGo = ({ type, message }: Condition): boolean => type === APPROVED && message !== needOf(after)?.message;
  return conditionsOf(before)
    .filter((one) => one.type !== NEED_UPGRADE && !(mayGo(one) && !present.has(one.type)))
    .some((one) => present.get(one.type) !== canonical(one));
};

/** One announcement, and possibly the removal of an approval. */
const isOneAnnouncement = (conditions: readonly object[]): boolean => {
  const [first, second, ...more] = conditions as readonly { type: string; $patch?: string }[];
  const takesOff = second === undefined || (second.type === APPROVED && second.$patch === 'delete');
  return first?.type === NEED_UPGRADE && takesOff && more.length === 0;
};

/** Deletes of pods of Advanced DaemonSets are checked with other updates. */
const isNative = (pod: Pod | undefined): boolean =>
  !pod?.metadata?.ownerReferences?.some(({ apiVersion }) => apiVersion?.startsWith('apps.kruise.io/'));

/** What is wrong with a patch, regardless of history. */
const flawsOf = (request: unknown): string[] => {
  const { metadata, status, ...rest } = (request ?? {}) as Partial<Pod>;
  const conditions = status?.conditions ?? [];
  return [
    ...(metadata?.uid === undefined ? ['without the uid of the pod'] : []),
    ...(Object.keys(rest).some((key) => key !== 'apiVersion' && key !== 'kind') ? ['with more than a status'] : []),
    ...(Object.keys(status ?? {}).length === 1 && isOneAnnouncement(conditions)
      ? []
      : [`with something other than one condition ${NEED_UPGRADE}`]),
  ];
};

/**
 * Checks the announcements on the pods of one DaemonSet, from the audit log: S12 (the manager deletes nothing while owners
 * decide), S5 (each patch is bound to its pod and leaves other conditions alone) and S15 (a patch only when the announcement
 * changes). Returns the violations, one sentence each; empty when there are none.
 */
export const checkAnnouncements = (records: readonly AuditRecord[], options: AnnouncementOptions): string[] => {
  const { namespace, daemonSet, product, lagMs = tolerances.auditLag.ms } = options;
  const violations: string[] = [];
  /** By UID, in their last state. */
  const pods = new Map<string, { pod: Pod; changedAt: number; terminatingSince: number | undefined }>();
  let uid = '';
  let otaSince: number | undefined;

  const checkPatch = (record: AuditRecord): void => {
    const after = record.response as Pod;
    const report = (rule: string, what: string): void => {
      violations.push(`${rule}: at ${time(record.receivedAt)} ${record.user} patched pod ${record.name} ${what}`);
    };
    for (const flaw of flawsOf(record.request)) report('S5', flaw);
    const owner = after.metadata?.ownerReferences?.find(({ controller }) => controller === true);
    if (owner?.kind === 'DaemonSet' && owner.name !== daemonSet) return;
    if (owner?.uid !== uid) report('S5', 'which is not owned by a DaemonSet of the case');
    const known = pods.get(after.metadata?.uid ?? '');
    if (!known) return;
    const [was, is] = [needOf(known.pod), needOf(after)];
    if (isOverwritten(known.pod, after)) report('S5', 'and changed other conditions');
    const settled = record.receivedAt - known.changedAt > lagMs;
    if (canonical(was) === canonical(is) && settled) report('S15', 'and changed nothing');
    const turned = was?.status !== is?.status;
    if (!turned && was?.lastTransitionTime !== is?.lastTransitionTime && settled)
      report('S15', 'and moved lastTransitionTime although the status is the same');
    if (record.receivedAt - (known.terminatingSince ?? Number.POSITIVE_INFINITY) > lagMs)
      report('S15', 'which had been terminating for long');
  };

  const applyPod = (pod: Pod, record: AuditRecord): void => {
    const key = pod.metadata?.uid ?? '';
    const before = pods.get(key);
    const changed = canonical(needOf(before?.pod)) !== canonical(needOf(pod));
    pods.set(key, {
      pod,
      changedAt: changed || !before ? record.answeredAt : before.changedAt,
      terminatingSince: pod.metadata?.deletionTimestamp ? (before?.terminatingSince ?? record.answeredAt) : undefined,
    });
  };

  for (const record of inOrder(records)) {
    const { group, resource, verb, user, name, response, receivedAt, answeredAt } = record;
    if (record.namespace !== namespace) continue;
    if (group === '' && resource.startsWith('pods')) {
      if (product(user) && verb === 'delete' && resource === 'pods' && otaSince !== undefined)
        if (receivedAt - otaSince > lagMs && name.startsWith(`${daemonSet}-`) && isNative(response as Pod))
          violations.push(`S12: at ${time(receivedAt)} ${user} deleted pod ${name}, whose owner decides`);
      const pod = response as Pod & { kind?: string };
      if (pod.kind !== 'Pod') continue;
      const isGate = isGateWrite(record);
      if (product(user) && verb === 'patch' && resource === 'pods/status' && !isGate) checkPatch(record);
      applyPod(pod, record);
    } else if (resource.startsWith('daemonsets') && name === daemonSet && verb !== 'delete') {
      const set = response as DaemonSet;
      uid = set.metadata?.uid ?? uid;
      otaSince = isOta(set) ? (otaSince ?? answeredAt) : undefined;
    }
  }
  return violations;
};
