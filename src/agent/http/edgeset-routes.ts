import { failure, json } from '../../http/index.ts';
import { parseDecision } from '../decisions/index.ts';
import { ref, type Schema } from '../schema.ts';
import type { Update } from '../types.ts';
import type { EventStreams } from './event-streams.ts';
import type { Call, Route } from './route.ts';

const ok = (description: string, schema: Schema) => ({ description, contentType: 'application/json', schema });
const status = (description: string) => ok(description, ref('Status'));

const NO_DAEMON_SET = 'no such DaemonSet in OTA mode on this node';

const find = (call: Call): Update | undefined =>
  call.backend
    .updates()
    .find((each) => each.namespace === call.param('namespace') && each.daemonSet === call.param('daemonSet'));

const example = { revision: '7d9c5b8f6' };

/** The agent's own API. */
export const edgesetRoutes = (streams: EventStreams, now: () => number): readonly Route[] => [
  {
    method: 'GET',
    path: '/edgeset.io/v1/updates',
    operationId: 'listUpdates',
    summary: 'The DaemonSets of this node in OTA mode, with their running and target revisions',
    responses: { 200: ok('One item for each DaemonSet.', ref('UpdateList')) },
    handle: ({ backend }) => json(200, { items: backend.updates() }),
  },
  {
    method: 'GET',
    path: '/edgeset.io/v1/updates/{namespace}/{daemonSet}',
    operationId: 'getUpdate',
    summary: 'One DaemonSet of this node',
    responses: { 200: ok('The DaemonSet.', ref('Update')), 404: status(`There is ${NO_DAEMON_SET}.`) },
    handle: (call) => {
      const update = find(call);
      return update === undefined ? failure(404, NO_DAEMON_SET, { cause: 'NoSuchDaemonSet' }) : json(200, update);
    },
  },
  {
    method: 'POST',
    path: '/edgeset.io/v1/updates/{namespace}/{daemonSet}/decision',
    operationId: 'decide',
    summary: 'Decide what to do with one revision',
    description:
      'The decision is saved on disk before the response. Repeating a decision for the same revision changes nothing; a different decision replaces it.',
    body: {
      schema: ref('DecisionRequest'),
      examples: {
        now: { ...example, decision: 'approve' },
        tonight: { ...example, decision: 'approve', when: { type: 'window', from: '22:00', to: '05:00' } },
        later: { ...example, decision: 'postpone', until: '2027-01-31T08:00:00Z' },
        never: { ...example, decision: 'reject' },
      },
    },
    responses: {
      201: ok('Saved; there is nothing to carry out.', ref('Decision')),
      202: ok('Saved; the update is waiting or in progress.', ref('Decision')),
      403: status('The caller is not allowed, or the revision is halted.'),
      404: status(`There is ${NO_DAEMON_SET}.`),
      409: status('The target is another revision, or an update is in progress.'),
      415: status('The body was not sent as application/json.'),
      422: status('The decision is invalid.'),
    },
    handle: async (call) => {
      const { backend, caller, reauthorize } = call;
      const { revision, choice } = parseDecision(call.body, now());
      const target = { namespace: call.param('namespace'), daemonSet: call.param('daemonSet') };
      const result = await backend.decide(target, revision, choice, caller, reauthorize);
      return result.kind === 'accepted'
        ? json(result.status, result.decision)
        : failure(result.status, result.message, { cause: result.reason });
    },
  },
  {
    method: 'GET',
    path: '/edgeset.io/v1/history',
    operationId: 'listHistory',
    summary: 'The decisions and updates of this device, newest first',
    responses: { 200: ok('The most recent entries.', ref('History')) },
    handle: ({ backend }) => json(200, { items: backend.history() }),
  },
  {
    method: 'GET',
    path: '/edgeset.io/v1/device',
    operationId: 'getDevice',
    summary: 'The node: its name, time, connection, and the result of its safety check',
    responses: { 200: ok('The device.', ref('Device')) },
    handle: ({ backend }) => json(200, backend.device()),
  },
  {
    method: 'GET',
    path: '/edgeset.io/v1/events',
    operationId: 'followEvents',
    summary: 'The full state now and after every change, as server-sent events',
    description:
      'Each event is named `state`; its data has the schema State. A stream starts with the current state, so a client that reconnects misses nothing and does not need Last-Event-ID. Comments keep an idle stream alive. A stream ends after 15 minutes; clients reopen it.',
    responses: { 200: { description: 'Events.', contentType: 'text/event-stream', schema: { type: 'string' } } },
    handle: ({ backend }) => streams.open(backend),
  },
];
