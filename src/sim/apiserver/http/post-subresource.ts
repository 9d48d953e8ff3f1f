import { type Core, timeText } from '../core/core.ts';
import { deleteObject } from '../core/delete.ts';
import { updateObject } from '../core/update.ts';
import type { Kind } from '../kinds/index.ts';
import { badRequest, conflict, noResource, notFound, Refusal } from '../refusal.ts';
import { matchesLabelSelector } from '../select/index.ts';
import { keyOf } from '../store/index.ts';
import { arrayOf, at, type Json, recordOf, textOf } from '../value/index.ts';
import { type Answer, type Call, json } from './answer.ts';
import { readObject } from './body.ts';
import type { Route } from './route.ts';

const created: Json = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };

type Post = (core: Core, kind: Kind, route: Route & { name: string }, body: Json) => Answer;

const bind: Post = (core, kind, route, body) => {
  const node = textOf(at(body, 'target', 'name'));
  if (node === '') throw badRequest('target.name: Required value');
  updateObject(
    core,
    kind,
    route,
    (pod) => {
      const present = textOf(at(pod, 'spec', 'nodeName'));
      if (present !== '')
        throw conflict(
          { ...kind, plural: 'pods/binding' },
          route.name,
          `pod ${route.name} is already assigned to node ${JSON.stringify(present)}`,
        );
      return pod;
    },
    { mode: 'patch' },
  );
  updateObject(
    core,
    kind,
    route,
    (pod) => ({ ...scheduled(core, pod), spec: { ...recordOf(pod.spec), nodeName: node } }),
    { mode: 'patch', subresource: 'binding' },
  );
  return json(created, 201);
};

const withCondition = (pod: Json, condition: Json & { type: string }): Json => {
  const status = recordOf(pod.status);
  const others = arrayOf(status.conditions).filter((each) => at(each, 'type') !== condition.type);
  return { ...pod, status: { ...status, conditions: [...others, condition] } };
};

const scheduled = (core: Core, pod: Json): Json =>
  withCondition(pod, { type: 'PodScheduled', status: 'True', lastTransitionTime: timeText(core.clock.now()) });

/** A budget that a healthy pod's eviction would break; undefined when none would be. */
const blockingBudget = (core: Core, pod: Json): Json | undefined =>
  core.store
    .list('poddisruptionbudgets.policy', `${textOf(at(pod, 'metadata', 'namespace'))}/`)
    .find(
      (budget) =>
        matchesLabelSelector(at(budget, 'spec', 'selector'), recordOf(at(pod, 'metadata', 'labels'))) &&
        Number(at(budget, 'status', 'disruptionsAllowed') ?? 0) <= 0,
    );

const evict: Post = (core, kind, route, body) => {
  const pod = core.store.get(kind.table, keyOf(route.namespace, route.name));
  if (!pod) throw notFound(kind, route.name);
  if (blockingBudget(core, pod))
    throw new Refusal(
      'TooManyRequests',
      429,
      'TooManyRequests',
      "Cannot evict pod as it would violate the pod's disruption budget.",
      { causes: [{ reason: 'DisruptionBudget', message: 'The disruption budget allows no disruption now.' }] },
    );
  const disrupted = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
    lastTransitionTime: timeText(core.clock.now()),
  };
  updateObject(core, kind, route, (present) => withCondition(present, disrupted), {
    mode: 'patch',
    subresource: 'status',
  });
  const options = recordOf(body.deleteOptions);
  const seconds = options.gracePeriodSeconds;
  deleteObject(core, kind, route, typeof seconds === 'number' ? { gracePeriodSeconds: seconds } : {});
  return json(created, 201);
};

const DEFAULT_SECONDS = 3600;

const requestToken: Post = (core, kind, route, body) => {
  const account = core.store.get(kind.table, keyOf(route.namespace, route.name));
  if (!account) throw notFound(kind, route.name);
  const asked = at(body, 'spec', 'expirationSeconds');
  const seconds = typeof asked === 'number' ? asked : DEFAULT_SECONDS;
  const token = core.tokens.issue(
    `system:serviceaccount:${route.namespace}:${route.name}`,
    core.clock.now() + seconds * 1000,
  );
  return json(
    {
      ...body,
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: { name: route.name, namespace: route.namespace, creationTimestamp: timeText(core.clock.now()) },
      spec: {
        audiences: ['https://kubernetes.default.svc'],
        ...recordOf(body.spec),
        expirationSeconds: seconds,
        boundObjectRef: null,
      },
      status: { token, expirationTimestamp: timeText(core.clock.now() + seconds * 1000) },
    },
    201,
  );
};

const posts: Readonly<Record<string, Post>> = { binding: bind, eviction: evict, token: requestToken };

/** POST to a subresource: not an object that is kept, but something to be done. */
export const postSubresource = async (
  core: Core,
  kind: Kind,
  route: Route & { name: string },
  name: string,
  call: Call,
): Promise<Answer> => {
  const post = posts[name];
  if (!post) throw noResource();
  return post(core, kind, route, await readObject(await call.body(), call.contentType));
};
