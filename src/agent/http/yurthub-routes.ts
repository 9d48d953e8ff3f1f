import { failure, json, plain } from '../../http/index.ts';
import { ref } from '../schema.ts';
import type { PodRef } from '../types.ts';
import type { Call, Route } from './route.ts';

type Described = Route['responses'][number];

const text = (description: string): Described => ({
  description,
  contentType: 'text/plain',
  schema: { type: 'string' },
});

const refusals: Readonly<Record<number, Described>> = {
  400: text('The pod has no owner, or its owner is not a DaemonSet.'),
  403: text('The pod is terminating, runs on another node, has no update, is halted, or its images are not ready.'),
  404: text('There is no such pod on this node.'),
  502: text('The API server refused the request; the text says why.'),
  503: text('The API server is unreachable, or the decision cannot be saved. Nothing was sent.'),
  504: text('The API server did not answer in time. The outcome is unknown; the history shows it later.'),
  507: text('The disk is full, so the decision cannot be saved. Nothing was sent.'),
};

const podOf = (call: Call): PodRef => ({ namespace: call.param('namespace'), name: call.param('podName') });

/** `?queue=true`; undefined when the value is neither true nor false. */
const queueOf = (query: URLSearchParams): boolean | undefined => {
  const values = query.getAll('queue');
  if (values.length === 0) return false;
  const [value] = values;
  return values.length === 1 && (value === 'true' || value === 'false') ? value === 'true' : undefined;
};

/** The paths of OpenYurt's YurtHub, for its existing clients. */
export const yurtHubRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/pods',
    operationId: 'listPods',
    summary: 'All pods of this node, from the cache on disk; also works offline',
    responses: {
      200: {
        description: 'The pods.',
        contentType: 'application/json',
        schema: ref('PodList'),
        headers: {
          'X-Edgeset-Cache-Age': 'Upper bound of the cache age: seconds since the last contact with the API server.',
        },
      },
    },
    handle: ({ backend }) => {
      const { items, resourceVersion, ageSeconds } = backend.pods();
      const list = { kind: 'PodList', apiVersion: 'v1', metadata: { resourceVersion }, items };
      return json(200, list, { 'x-edgeset-cache-age': String(Math.ceil(ageSeconds)) });
    },
  },
  {
    method: 'POST',
    path: '/openyurt.io/v1/namespaces/{namespace}/pods/{podName}/upgrade',
    operationId: 'upgradePod',
    summary: "Update one pod to its DaemonSet's new revision now",
    query: [
      {
        name: 'queue',
        description:
          'While offline: save the decision for the current target revision and carry it out once connected.',
        schema: { type: 'boolean', default: false },
      },
    ],
    responses: {
      200: text('The pod is being replaced.'),
      202: text('Offline, with `queue=true`: the decision is saved on disk.'),
      ...refusals,
    },
    handle: async (call) => {
      const queue = queueOf(call.query);
      if (queue === undefined)
        return failure(400, 'the query parameter queue must be true or false', { cause: 'BadParameter' });
      const { backend, caller, reauthorize } = call;
      return plain(await backend.upgrade(podOf(call), caller, { queue, reauthorize }));
    },
  },
  {
    method: 'POST',
    path: '/openyurt.io/v1/namespaces/{namespace}/pods/{podName}/imagepull',
    operationId: 'pullImages',
    summary: "Pull the images of one pod's new revision to this node before the update",
    responses: {
      200: text('The pull is requested; the pod condition PodImageReady shows its progress.'),
      ...refusals,
    },
    handle: async (call) => {
      const refusal = await call.reauthorize();
      if (refusal !== undefined) return failure(403, refusal, { cause: 'CallerGone' });
      return plain(await call.backend.imagePull(podOf(call), call.caller));
    },
  },
];
