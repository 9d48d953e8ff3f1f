import type { ApiServer, AuditEvent, StoredObject } from '../../embedded/index.ts';
import type { Audit, AuditRecord } from '../conformance/index.ts';

type Verb = AuditRecord['verb'];

const verbs: Record<string, Verb> = { POST: 'create', PUT: 'update', PATCH: 'patch' };

const verbOf = ({ method, name, watch }: AuditEvent): Verb => {
  if (watch) return 'watch';
  if (method === 'DELETE') return name === undefined ? 'deletecollection' : 'delete';
  return verbs[method] ?? (name === undefined ? 'list' : 'get');
};

const versionOf = (object: unknown): number =>
  Number((object as { metadata?: { resourceVersion?: string } } | undefined)?.metadata?.resourceVersion ?? 0);

const nameIn = (object: unknown): string =>
  (object as { metadata?: { name?: string } } | undefined)?.metadata?.name ?? '';

/** The resources that the checks need, as in the real cluster's audit policy. */
const kept = new Set([
  'pods',
  'nodes',
  'daemonsets',
  'controllerrevisions',
  'daemonrollouts',
  'rolloutplans',
  'clusterrolloutplans',
  'rolloutapprovals',
]);

const changed: Record<'ADDED' | 'MODIFIED' | 'DELETED', Verb> = {
  ADDED: 'create',
  MODIFIED: 'update',
  DELETED: 'delete',
};

const onlyStatus = (object: StoredObject, previous: StoredObject): boolean =>
  object.spec === previous.spec &&
  object.status !== previous.status &&
  object.metadata.deletionTimestamp === previous.metadata.deletionTimestamp;

/** An object that is deleted at once is marked and removed by one call: one record covers both. */
const isOnItsWay = ({ metadata }: StoredObject): boolean =>
  metadata.deletionTimestamp != null &&
  metadata.deletionGracePeriodSeconds === 0 &&
  (metadata.finalizers ?? []).length === 0;

/** An audit log of all writes: HTTP requests as they were, and writes by the cluster's own components. */
export const createAudit = (apiServer: ApiServer, now: () => number): Audit & { hear: (call: AuditEvent) => void } => {
  const records: AuditRecord[] = [];
  /** The index of the record with this resourceVersion, whose writer is still unknown. */
  const unclaimed = new Map<number, number>();

  apiServer.subscribe(({ type, resource, object, previous }) => {
    if (!kept.has(resource.plural) || (type === 'MODIFIED' && isOnItsWay(object))) return;
    const at = now();
    unclaimed.set(versionOf(object), records.length);
    records.push({
      receivedAt: at,
      answeredAt: at,
      user: 'system:embedded',
      userAgent: '',
      verb: changed[type],
      group: resource.group,
      // Status-only changes are writes of the status subresource.
      resource: previous && onlyStatus(object, previous) ? `${resource.plural}/status` : resource.plural,
      namespace: object.metadata.namespace ?? '',
      name: object.metadata.name,
      code: 200,
      request: undefined,
      response: object,
    });
  });

  return {
    read: () => Promise.resolve(records),
    hear(call) {
      const verb = verbOf(call);
      const isRead = verb === 'get' || verb === 'list' || verb === 'watch';
      const ofProduct = call.user.startsWith('system:serviceaccount:');
      if (!ofProduct && (isRead || !kept.has(call.plural))) return;
      const record: AuditRecord = {
        receivedAt: call.receivedAt,
        answeredAt: call.answeredAt,
        user: call.user,
        userAgent: call.userAgent,
        verb,
        group: call.group,
        resource: call.subresource === undefined ? call.plural : `${call.plural}/${call.subresource}`,
        namespace: call.namespace ?? '',
        name: call.name ?? nameIn(call.response),
        labelSelector: call.labelSelector,
        ...(call.dryRun && { dryRun: true }),
        code: call.status,
        request: isRead ? undefined : call.request,
        response: isRead ? undefined : call.response,
      };
      const version = versionOf(record.response);
      const at = version > call.versionBefore ? unclaimed.get(version) : undefined;
      unclaimed.delete(version);
      if (at === undefined) records.push(record);
      else records[at] = record;
    },
  };
};
