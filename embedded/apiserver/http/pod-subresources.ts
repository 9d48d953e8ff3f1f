import { toTime } from '../../resources.ts';
import { badRequest, conflict, noResource, StatusError } from '../errors.ts';
import { deleteObject } from '../handlers/delete.ts';
import { type ServerState, storedObject } from '../handlers/state.ts';
import { updateObject } from '../handlers/update.ts';
import { arrayOf, at, type Json, recordOf, textOf } from '../json.ts';
import { matchesLabelSelector } from '../label-selectors.ts';
import type { Kind } from '../registry/kind.ts';
import { readObject } from './body.ts';
import { json, type Request, type Response } from './exchange.ts';
import type { Route } from './route.ts';

const created: Json = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };

type Post = (state: ServerState, kind: Kind, route: Route & { name: string }, body: Json) => Response;

const bind: Post = (state, kind, route, body) => {
  const node = textOf(at(body, 'target', 'name'));
  if (node === '') throw badRequest('target.name: Required value');
  updateObject(
    state,
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
    state,
    kind,
    route,
    (pod) => ({ ...scheduled(state, pod), spec: { ...recordOf(pod.spec), nodeName: node } }),
    { mode: 'patch', subresource: 'binding' },
  );
  return json(created, 201);
};

const withCondition = (pod: Json, condition: Json & { type: string }): Json => {
  const status = recordOf(pod.status);
  const others = arrayOf(status.conditions).filter((each) => at(each, 'type') !== condition.type);
  return { ...pod, status: { ...status, conditions: [...others, condition] } };
};

const scheduled = (state: ServerState, pod: Json): Json =>
  withCondition(pod, { type: 'PodScheduled', status: 'True', lastTransitionTime: toTime(state.clock.now()) });

/** The PodDisruptionBudget that blocks the pod's eviction, if any. */
const blockingBudget = (state: ServerState, pod: Json): Json | undefined =>
  state.store
    .list('poddisruptionbudgets.policy', `${textOf(at(pod, 'metadata', 'namespace'))}/`)
    .find(
      (budget) =>
        matchesLabelSelector(at(budget, 'spec', 'selector'), recordOf(at(pod, 'metadata', 'labels'))) &&
        Number(at(budget, 'status', 'disruptionsAllowed') ?? 0) <= 0,
    );

const evict: Post = (state, kind, route, body) => {
  const pod = storedObject(state, kind, route);
  if (blockingBudget(state, pod))
    throw new StatusError('TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
      causes: [{ reason: 'DisruptionBudget', message: 'The disruption budget allows no disruption now.' }],
    });
  const disrupted = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
    lastTransitionTime: toTime(state.clock.now()),
  };
  updateObject(state, kind, route, (present) => withCondition(present, disrupted), {
    mode: 'patch',
    subresource: 'status',
  });
  const options = recordOf(body.deleteOptions);
  const seconds = options.gracePeriodSeconds;
  deleteObject(state, kind, route, typeof seconds === 'number' ? { gracePeriodSeconds: seconds } : {});
  return json(created, 201);
};

const DEFAULT_SECONDS = 3600;

const requestToken: Post = (state, kind, route, body) => {
  storedObject(state, kind, route);
  const asked = at(body, 'spec', 'expirationSeconds');
  const seconds = typeof asked === 'number' ? asked : DEFAULT_SECONDS;
  const token = state.tokens.issue(
    `system:serviceaccount:${route.namespace}:${route.name}`,
    state.clock.now() + seconds * 1000,
  );
  return json(
    {
      ...body,
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: { name: route.name, namespace: route.namespace, creationTimestamp: toTime(state.clock.now()) },
      spec: {
        audiences: ['https://kubernetes.default.svc'],
        ...recordOf(body.spec),
        expirationSeconds: seconds,
        boundObjectRef: null,
      },
      status: { token, expirationTimestamp: toTime(state.clock.now() + seconds * 1000) },
    },
    201,
  );
};

const posts: Readonly<Record<string, Post>> = { binding: bind, eviction: evict, token: requestToken };

/** Handles POST to a subresource: binding, eviction, token. */
export const postSubresource = async (
  state: ServerState,
  kind: Kind,
  route: Route & { name: string },
  name: string,
  request: Request,
): Promise<Response> => {
  const post = posts[name];
  if (!post) throw noResource();
  return post(state, kind, route, await readObject(request));
};
