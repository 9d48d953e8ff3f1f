import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { AuditRecord } from '../audit-record.ts';
import { type Case, type Shape, strategyKey } from '../kit/index.ts';

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
  await c.settled({ ...shape, annotations: { [strategyKey]: 'ota', ...shape.annotations } });
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

export const untilReady = (c: Case, node: string | undefined, hash: string, withinMs = 45_000): Promise<unknown> =>
  c.until(
    `the images of ${hash} are on ${node}`,
    async () => {
      const found = await outcomeOn(c, node);
      if (found?.status === 'True' && found.message === `controllerrevision: ${hash}`) return true;
      throw new Error(`it says ${JSON.stringify(found)}`);
    },
    withinMs,
  );

export const untilFailed = (c: Case, node: string | undefined, withinMs = 30_000): Promise<string> =>
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
