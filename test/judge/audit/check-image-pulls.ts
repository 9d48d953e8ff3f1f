import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { AuditRecord } from './audit-record.ts';
import { inOrder } from './records.ts';

const LABEL = 'edgeset.io/prefetch';
const REVISION = 'edgeset.io/prefetch-revision';
const IMAGE_READY = 'PodImageReady';

type Body = Partial<Pod> & { preconditions?: { uid?: string } };

const conditionsOf = (pod: Pod | undefined) => pod?.status?.conditions ?? [];

const isPullPod = ({ name, response }: AuditRecord): boolean =>
  name.startsWith('edgeset-pull-') || (response as Pod | undefined)?.metadata?.labels?.[LABEL] !== undefined;

const isReport = ({ verb, resource, request }: AuditRecord): boolean =>
  verb === 'patch' &&
  resource === 'pods/status' &&
  conditionsOf(request as Pod | undefined).some(({ type }) => type === IMAGE_READY);

/** Whether a call belongs to pulling images ahead: the checks of updates do not apply to it. */
export const isPullCall = (record: AuditRecord): boolean =>
  record.group === '' && /^pods\b/.test(record.resource) && (isPullPod(record) || isReport(record));

const flawsOfReport = ({ request, response }: AuditRecord): string[] => {
  const { metadata, status } = (request ?? {}) as Body;
  const [condition, ...others] = status?.conditions ?? [];
  const { message = '', reason = '' } = condition ?? {};
  const announced = conditionsOf(response as Pod).find(({ type }) => type === 'PodNeedUpgrade')?.message;
  const revision = message.split(';')[0];
  return [
    ...(metadata?.uid && metadata.resourceVersion ? [] : ['without the uid and version of the pod']),
    ...(others.length > 0 || Object.keys(status ?? {}).length !== 1 ? ['with more than one condition'] : []),
    ...(reason === 'PullImageSuccess' && announced !== undefined && revision !== announced
      ? [`of ${revision}, while ${announced} is announced`]
      : []),
    ...(reason === 'PullImageFail' && !/; ./.test(message) ? ['for a failure without its cause'] : []),
  ];
};

/**
 * Checks how the manager pulls images ahead, from the audit log: at most one pull pod for each pod and revision at a time,
 * none that another controller could adopt, deletes with UIDs, reports of one condition, and success only for the announced
 * revision and after its pull pod has pulled. Returns the violations, one sentence each.
 */
export const checkImagePulls = (records: readonly AuditRecord[], product: (user: string) => boolean): string[] => {
  const violations: string[] = [];
  /** By name. The delete of one may be missing from the log, and a new pod of its name proves that it is gone. */
  const alive = new Map<string, { uid: string; purpose: string }>();
  /** Pods and revisions whose images were pulled, by the kubelet's status. */
  const pulled = new Set<string>();
  const purposeOf = ({ metadata }: Pod): string =>
    `${metadata?.ownerReferences?.find(({ controller }) => controller)?.uid}/${metadata?.annotations?.[REVISION]}`;

  for (const record of inOrder(records.filter((each) => each.group === '' && /^pods\b/.test(each.resource)))) {
    const { verb, user, name, request } = record;
    const pod = record.response as Pod;
    const { uid = '', name: podName = name } = pod.metadata ?? {};
    const report = (what: string): void => void violations.push(`${user} ${verb} ${podName} ${what}`);
    if (isPullPod(record)) {
      if (verb === 'create' && product(user)) {
        alive.delete(podName);
        const purpose = purposeOf(pod);
        if (alive.values().some((other) => other.purpose === purpose))
          report('although one for the same pod and revision exists');
        const owner = pod.metadata?.ownerReferences?.find(({ controller }) => controller === true);
        if (owner?.kind !== 'Pod') report('which another controller can adopt');
        alive.set(podName, { uid, purpose });
      }
      const statuses = pod.status?.containerStatuses ?? [];
      if (statuses.length > 0 && statuses.every(({ imageID }) => imageID !== '')) pulled.add(purposeOf(pod));
      if (verb === 'delete') {
        if (product(user) && (request as Body | undefined)?.preconditions?.uid === undefined) report('without a uid');
        if (alive.get(podName)?.uid === uid) alive.delete(podName);
      }
    } else if (isReport(record) && product(user)) {
      for (const flaw of flawsOfReport(record)) report(flaw);
      const { reason, message = '' } = conditionsOf(request as Pod)[0] ?? {};
      const revision = message.replace(/^controllerrevision: /, '').split(';')[0];
      if (reason === 'PullImageSuccess' && !pulled.has(`${uid}/${revision}`)) report('although nothing was pulled');
    }
  }
  return violations;
};
