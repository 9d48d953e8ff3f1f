import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { AuditRecord } from './audit-record.ts';
import { inOrder } from './cluster-state.ts';
import { isGateWrite } from './pod-writes.ts';

export interface AnnouncementOptions {
  namespace: string;
  daemonSet: string;
  /** Whose writes are judged. */
  product: (user: string) => boolean;
  /** What happened so shortly before a write may be unknown to the one who writes. Default 1000. */
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

/** Without null and absent fields, and in one order: two servers write them differently. */
const plain = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) => {
    if (inner === null) return undefined;
    if (typeof inner !== 'object' || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });

/** Were other conditions taken away or changed? One more is none of ours: the log does not say what a binding adds. */
const isOverwritten = (before: Pod, after: Pod): boolean => {
  const present = new Map(conditionsOf(after).map((condition) => [condition.type, plain(condition)]));
  // What owners agreed to goes with the announcement that it was an answer to.
  const mayGo = ({ type, message }: Condition): boolean => type === APPROVED && message !== needOf(after)?.message;
  return conditionsOf(before)
    .filter((one) => one.type !== NEED_UPGRADE && !(mayGo(one) && !present.has(one.type)))
    .some((one) => present.get(one.type) !== plain(one));
};

/** One condition, and with it an approval that is taken off. */
const isWithin = (conditions: readonly object[]): boolean => {
  const [first, second, ...more] = conditions as readonly { type: string; $patch?: string }[];
  const takesOff = second === undefined || (second.type === APPROVED && second.$patch === 'delete');
  return first?.type === NEED_UPGRADE && takesOff && more.length === 0;
};

/** Deleted by others than its manager, one of an Advanced DaemonSet comes back; the judge of acts looks at those. */
const isNative = (pod: Pod | undefined): boolean =>
  !pod?.metadata?.ownerReferences?.some(({ apiVersion }) => apiVersion?.startsWith('apps.kruise.io/'));

/** What is wrong with a patch by itself. */
const slips = (request: unknown): string[] => {
  const { metadata, status, ...rest } = (request ?? {}) as Partial<Pod>;
  const conditions = status?.conditions ?? [];
  return [
    ...(metadata?.uid === undefined ? ['without the uid of the pod'] : []),
    ...(Object.keys(rest).some((key) => key !== 'apiVersion' && key !== 'kind') ? ['with more than a status'] : []),
    ...(Object.keys(status ?? {}).length === 1 && isWithin(conditions)
      ? []
      : [`with something else than one condition ${NEED_UPGRADE}`]),
  ];
};

/**
 * Holds what the product wrote to the pods of one native DaemonSet against the OTA section of `spec/native.md`, seen from
 * the cluster's side: S12 (it deletes nothing while owners decide) and S15 (one condition, of one pod, only when it
 * changes). Returns the violations, one sentence each; empty when all is well.
 */
export const checkAnnouncements = (records: readonly AuditRecord[], options: AnnouncementOptions): string[] => {
  const { namespace, daemonSet, product, lagMs = 1000 } = options;
  const violations: string[] = [];
  /** By UID, as they were left last. */
  const pods = new Map<string, { pod: Pod; changedAt: number; goingSince: number | undefined }>();
  let uid = '';
  let otaSince: number | undefined;

  const judgePatch = (record: AuditRecord): void => {
    const after = record.response as Pod;
    const report = (rule: string, what: string): void => {
      violations.push(`${rule}: at ${time(record.receivedAt)} ${record.user} patched pod ${record.name} ${what}`);
    };
    for (const slip of slips(record.request)) report('S5', slip);
    const owner = after.metadata?.ownerReferences?.find(({ controller }) => controller === true);
    if (owner?.kind === 'DaemonSet' && owner.name !== daemonSet) return;
    if (owner?.uid !== uid) report('S5', 'which no DaemonSet of the case owns');
    const known = pods.get(after.metadata?.uid ?? '');
    if (!known) return;
    const [was, is] = [needOf(known.pod), needOf(after)];
    if (isOverwritten(known.pod, after)) report('S5', 'and changed other conditions');
    const settled = record.receivedAt - known.changedAt > lagMs;
    if (plain(was) === plain(is) && settled) report('S15', 'and changed nothing');
    const turned = was?.status !== is?.status;
    if (!turned && was?.lastTransitionTime !== is?.lastTransitionTime && settled)
      report('S15', 'and moved lastTransitionTime although the status is the same');
    if (record.receivedAt - (known.goingSince ?? Number.POSITIVE_INFINITY) > lagMs)
      report('S15', 'which had long been on its way out');
  };

  const applyPod = (pod: Pod, record: AuditRecord): void => {
    const key = pod.metadata?.uid ?? '';
    const before = pods.get(key);
    const changed = plain(needOf(before?.pod)) !== plain(needOf(pod));
    pods.set(key, {
      pod,
      changedAt: changed || !before ? record.answeredAt : before.changedAt,
      goingSince: pod.metadata?.deletionTimestamp ? (before?.goingSince ?? record.answeredAt) : undefined,
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
      const opensOrShuts = isGateWrite(record);
      if (product(user) && verb === 'patch' && resource === 'pods/status' && !opensOrShuts) judgePatch(record);
      applyPod(pod, record);
    } else if (resource.startsWith('daemonsets') && name === daemonSet && verb !== 'delete') {
      const set = response as DaemonSet;
      uid = set.metadata?.uid ?? uid;
      otaSince = isOta(set) ? (otaSince ?? answeredAt) : undefined;
    }
  }
  return violations;
};
