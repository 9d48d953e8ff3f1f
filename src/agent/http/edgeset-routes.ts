import type { Update } from '../types.ts';
import { parseDecisionRequest } from './decision-request.ts';
import type { EventStreams } from './event-streams.ts';
import { failure, json } from './response.ts';
import type { Call, Route } from './route.ts';
import { ref } from './schemas.ts';

const status = (description: string) => ({ description, contentType: 'application/json', schema: ref('Status') });

const find = (call: Call): Update | undefined =>
  call.backend
    .updates()
    .find((each) => each.namespace === call.param('namespace') && each.daemonSet === call.param('daemonSet'));

const example = { revision: '7d9c5b8f6' };

/** The own API of the agent. */
export const edgesetRoutes = (streams: EventStreams, now: () => number): readonly Route[] => [
  {
    method: 'GET',
    path: '/edgeset.io/v1/updates',
    operationId: 'listUpdates',
    summary: 'What runs on this node in OTA mode, and what is new',
    responses: {
      200: { description: 'One for each DaemonSet.', contentType: 'application/json', schema: ref('UpdateList') },
    },
    handle: ({ backend }) => json(200, { items: backend.updates() }),
  },
  {
    method: 'GET',
    path: '/edgeset.io/v1/updates/{namespace}/{daemonSet}',
    operationId: 'getUpdate',
    summary: 'One DaemonSet of this node',
    responses: {
      200: { description: 'The DaemonSet.', contentType: 'application/json', schema: ref('Update') },
      404: status('There is no such DaemonSet in OTA mode on this node.'),
    },
    handle: (call) => {
      const update = find(call);
      return update === undefined
        ? failure(404, 'there is no such DaemonSet in OTA mode on this node', { cause: 'NoSuchDaemonSet' })
        : json(200, update);
    },
  },
  {
    method: 'POST',
    path: '/edgeset.io/v1/updates/{namespace}/{daemonSet}/decision',
    operationId: 'decide',
    summary: 'Say what shall become of one revision',
    description:
      'On the disk before the answer. The same decision for the same revision again changes nothing; another one replaces it.',
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
      201: { description: 'Kept; nothing is to be done.', contentType: 'application/json', schema: ref('Decision') },
      202: { description: 'Kept; it waits or is under way.', contentType: 'application/json', schema: ref('Decision') },
      403: status('The caller may not, or the revision is halted.'),
      404: status('There is no such DaemonSet in OTA mode on this node.'),
      409: status('Another revision is the target, or an act is under way.'),
      415: status('The body is not sent as application/json.'),
      422: status('The body says something that cannot be done.'),
    },
    handle: async (call) => {
      const { backend, caller, reauthorize } = call;
      const parsed = parseDecisionRequest(call.body, { now: now(), safeConfigured: backend.device().safe.configured });
      if (parsed.kind === 'refused') return parsed.answer;
      const target = { namespace: call.param('namespace'), daemonSet: call.param('daemonSet') };
      const answer = await backend.decide(target, parsed.revision, parsed.choice, caller, reauthorize);
      return answer.kind === 'accepted'
        ? json(answer.status, answer.decision)
        : failure(answer.status, answer.message, { cause: answer.reason });
    },
  },
  {
    method: 'GET',
    path: '/edgeset.io/v1/history',
    operationId: 'listHistory',
    summary: 'What was decided and done on this device, newest first',
    responses: { 200: { description: 'The last entries.', contentType: 'application/json', schema: ref('History') } },
    handle: ({ backend }) => json(200, { items: backend.history() }),
  },
  {
    method: 'GET',
    path: '/edgeset.io/v1/device',
    operationId: 'getDevice',
    summary: 'The node: its name, time, connection, and whether it says that it is safe to disturb it',
    responses: { 200: { description: 'The device.', contentType: 'application/json', schema: ref('Device') } },
    handle: ({ backend }) => json(200, backend.device()),
  },
  {
    method: 'GET',
    path: '/edgeset.io/v1/events',
    operationId: 'followEvents',
    summary: 'The whole state now and after every change, as server-sent events',
    description:
      'Each event is named `state`; its data is the schema State. A stream begins with the present state, so a client that comes back has missed nothing, and Last-Event-ID is not needed. Comments keep an idle stream alive. A stream ends after 15 minutes; clients reopen it.',
    responses: {
      200: { description: 'Events.', contentType: 'text/event-stream', schema: { type: 'string' } },
    },
    handle: ({ backend }) => streams.open(backend),
  },
];
