import type { TextResponse } from '../types.ts';
import { failure, type HttpResponse, json, plain } from './response.ts';
import type { Call, Route } from './route.ts';
import { ref, type Schema } from './schemas.ts';

const text = (description: string): { description: string; contentType: string; schema: Schema } => ({
  description,
  contentType: 'text/plain',
  schema: { type: 'string' },
});

const refusals: Readonly<Record<number, ReturnType<typeof text>>> = {
  400: text('The pod has no owner, or its owner is no DaemonSet.'),
  403: text('The pod is terminating, on another node, not to be updated, halted, or its images are not ready.'),
  404: text('There is no such pod on this node.'),
  502: text('The API server refused; the text says why.'),
  503: text('Not connected to the API server, or the disk takes no decision. Nothing was sent.'),
  504: text('The API server did not answer in time: the outcome is not known, and is told in the history later.'),
  507: text('The disk is full: the decision could not be kept. Nothing was sent.'),
};

const podOf = (call: Call): { namespace: string; name: string } => ({
  namespace: call.param('namespace'),
  name: call.param('podName'),
});

const answered = (answer: TextResponse): HttpResponse => plain(answer);

/** `?queue=true`; undefined when it is neither true nor false. */
const queueOf = (query: URLSearchParams): boolean | undefined => {
  const values = query.getAll('queue');
  if (values.length === 0) return false;
  const [value] = values;
  return values.length === 1 && (value === 'true' || value === 'false') ? value === 'true' : undefined;
};

/** The paths of OpenYurt's YurtHub, for the clients that there are. */
export const yurtHubRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/pods',
    operationId: 'listPods',
    summary: 'All pods of this node, from the cache on its disk; also offline',
    responses: {
      200: {
        description: 'The pods.',
        contentType: 'application/json',
        schema: ref('PodList'),
        headers: { 'X-Edgeset-Cache-Age': 'Seconds since the cache was last known to be true; never less than that.' },
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
          'Offline: keep the decision, for the revision that is the target now, and carry it out once connected.',
        schema: { type: 'boolean', default: false },
      },
    ],
    responses: {
      200: text('The pod is being replaced.'),
      202: text('Offline, with `queue=true`: the decision is on the disk.'),
      ...refusals,
    },
    handle: async (call) => {
      const queue = queueOf(call.query);
      if (queue === undefined)
        return failure(400, 'the query parameter queue is true or false', { cause: 'BadParameter' });
      const { backend, caller, reauthorize } = call;
      return answered(await backend.upgrade(podOf(call), caller, { queue, reauthorize }));
    },
  },
  {
    method: 'POST',
    path: '/openyurt.io/v1/namespaces/{namespace}/pods/{podName}/imagepull',
    operationId: 'pullImages',
    summary: "Bring the images of one pod's new revision to this node ahead of the update",
    responses: { 200: text('The pull was asked for; the pod condition PodImageReady tells how it goes.'), ...refusals },
    handle: async (call) => {
      const refusal = await call.reauthorize();
      if (refusal !== undefined) return failure(403, refusal, { cause: 'CallerGone' });
      return answered(await call.backend.imagePull(podOf(call), call.caller));
    },
  },
];
