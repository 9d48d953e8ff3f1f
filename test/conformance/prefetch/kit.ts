import assert from 'node:assert/strict';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { AuditRecord } from '../../judge/audit/audit-record.ts';
import { budgetKey, type Case, type CaseKind, type Shape, strategyKey } from '../kit/index.ts';

export interface Outcome {
  status: string;
  reason: string;
  message: string;
}

const conditionOf = (pod: Pod, type: string) => pod.status?.conditions?.find((condition) => condition.type === type);

/** What the node's pod says of its images; `undefined` for nothing. */
export const outcomeOn = async (c: Case, node: string | undefined): Promise<Outcome | undefined> => {
  const found = conditionOf((await c.podOn(node)).object, 'PodImageReady');
  return found && { status: found.status, reason: found.reason ?? '', message: found.message ?? '' };
};

/** An OTA rollout from app:v1, whose new revision is announced on every pod; resolves with the revision's hash. */
export const announced = async (c: Case, image = 'app:v2', shape: Shape = {}): Promise<string> => {
  await c.rolledOut({ ...shape, annotations: { [strategyKey]: 'ota', ...shape.annotations } });
  return announceNext(c, image);
};

export const announceNext = async (c: Case, image: string): Promise<string> => {
  const before = (await c.status()).target?.hash;
  await c.setImage(image);
  return c.until(`${image} is announced`, async () => {
    const hash = (await c.status()).target?.hash;
    const wanted = `controllerrevision: ${hash}`;
    const told = (await c.pods()).every(({ object }) => {
      const { status, message } = conditionOf(object, 'PodNeedUpgrade') ?? {};
      return status === 'True' && message === wanted;
    });
    return hash !== before && told && hash;
  });
};

/** What an agent without the socket of a runtime does when its owner asks for the images. */
export const ask = async (c: Case, node: string | undefined, hash: string): Promise<void> => {
  const { name, uid } = await c.podOn(node);
  const condition = {
    type: 'PodImageReady',
    status: 'False',
    reason: 'PullingImage',
    message: `controllerrevision: ${hash}`,
    lastTransitionTime: new Date().toISOString(),
  };
  const body = { metadata: { uid }, status: { conditions: [condition] } };
  await c.api.patch(`/api/v1/namespaces/${c.namespace}/pods/${name}/status`, body);
};

export const pullPods = async (c: Case): Promise<Pod[]> => {
  const path = `/api/v1/namespaces/${c.namespace}/pods?labelSelector=edgeset.io%2Fprefetch`;
  return (await c.api.get<{ items: Pod[] }>(path)).items;
};

export const untilPulling = (c: Case, withinMs?: number): Promise<Pod> =>
  c.until('there is a pull pod', async () => (await pullPods(c))[0], withinMs, 50);

export const untilClean = (c: Case, withinMs?: number): Promise<unknown> =>
  c.until('no pull pod is left', async () => (await pullPods(c)).length === 0, withinMs);

export const untilReady = (c: Case, node: string | undefined, hash: string, withinMs = 60_000): Promise<unknown> =>
  c.until(
    `the images of ${hash} are on ${node}`,
    async () => {
      const found = await outcomeOn(c, node);
      if (found?.status === 'True' && found.message === `controllerrevision: ${hash}`) return true;
      throw new Error(`it says ${JSON.stringify(found)}`);
    },
    withinMs,
  );

export const untilFailed = (c: Case, node: string | undefined, withinMs = 60_000): Promise<string> =>
  c.until(
    `the pull on ${node} has failed`,
    async () => {
      const found = await outcomeOn(c, node);
      return found?.reason === 'PullImageFail' && found.message;
    },
    withinMs,
  );

/** Pull pods that managers of the case created, each once. */
export const madePulls = async (c: Case): Promise<AuditRecord[]> =>
  (await c.calls()).filter(({ verb, resource, code }) => verb === 'create' && resource === 'pods' && code < 300);

/** A DaemonSet of which this many nodes may be down. */
export const budgeted = (kind: CaseKind, nodes: number, annotations: Record<string, string>): Shape =>
  kind === 'native'
    ? { annotations: { [budgetKey]: String(nodes), ...annotations } }
    : { annotations, rollingUpdate: { maxUnavailable: nodes } };

const GIB = 2 ** 30;

/** What the kubelet reports of a node's disk: whether it is full, its images by size in GiB, and what it gives to pods. */
export const setDisk = async (
  c: Case,
  node: string,
  { pressure = 'False', images = {}, gib = 256 }: { pressure?: string; images?: Record<string, number>; gib?: number },
): Promise<void> => {
  const listed = Object.entries(images).map(([name, size]) => ({
    names: [`docker.io/library/${name}`],
    sizeBytes: size * GIB,
  }));
  await c.api.patch(`/api/v1/nodes/${node}/status`, {
    status: {
      conditions: [{ type: 'DiskPressure', status: pressure, reason: 'Test', message: '' }],
      allocatable: { 'ephemeral-storage': `${gib}Gi` },
      images: listed,
    },
  });
};

/** What managers wrote to condition PodImageReady, oldest first. */
const reportsOf = async (c: Case): Promise<{ record: AuditRecord; node: string; reason: string }[]> =>
  (await c.calls()).flatMap((record) => {
    const { verb, resource, code, request, response } = record;
    if (verb !== 'patch' || resource !== 'pods/status' || code >= 300) return [];
    const written = (request as Pod).status?.conditions?.find(({ type }) => type === 'PodImageReady');
    const node = (response as Pod).spec?.nodeName ?? '';
    return written ? [{ record, node, reason: written.reason ?? '' }] : [];
  });

/** Requests that managers wrote to pods. */
export const asksOf = async (c: Case): Promise<{ node: string; receivedAt: number }[]> =>
  (await reportsOf(c))
    .filter(({ reason }) => reason === 'PullingImage')
    .map(({ node, record }) => ({ node, receivedAt: record.receivedAt }));

/** Fails unless the images of each updated pod had been reported as present before. */
export const assertAhead = async (c: Case): Promise<void> => {
  const told = (await reportsOf(c)).filter(({ reason }) => reason === 'PullImageSuccess');
  const acts = await c.updates();
  assert.ok(acts.length > 0);
  for (const { name, receivedAt } of acts)
    assert.ok(
      told.some(({ record }) => record.name === name && record.receivedAt < receivedAt),
      `the images were there before ${name} was acted on`,
    );
};

const isPull = ({ name, response }: AuditRecord): boolean =>
  name.startsWith('edgeset-pull-') || ((response as Pod | undefined)?.metadata?.name ?? '').startsWith('edgeset-pull-');

/** Pull pods that managers of the case made. */
export const pulledPods = async (c: Case): Promise<AuditRecord[]> => (await madePulls(c)).filter(isPull);

const hasPulled = ({ response }: AuditRecord): boolean => {
  const statuses = (response as Pod | undefined)?.status?.containerStatuses ?? [];
  return statuses.length > 0 && statuses.every(({ imageID }) => imageID !== '');
};

/** How many pull pods pulled at a time. */
export const mostAtOnce = async (c: Case): Promise<number> => {
  const pulling = new Set<string>();
  let most = 0;
  const own = (await c.cluster.audit.read()).filter(({ namespace }) => namespace === c.namespace);
  const calls = own.filter((call) => /^pods\b/.test(call.resource) && call.code < 300 && isPull(call));
  for (const call of calls.toSorted((a, b) => a.receivedAt - b.receivedAt)) {
    const name = call.name || ((call.response as Pod).metadata?.name ?? '');
    if (call.verb === 'delete' || hasPulled(call)) pulling.delete(name);
    else if (call.verb === 'create' && call.resource === 'pods') pulling.add(name);
    most = Math.max(most, pulling.size);
  }
  return most;
};
