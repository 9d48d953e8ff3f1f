import type { Node } from 'kubernetes-types/core/v1.d.ts';
import { isKubeError, nodes } from '../kube/index.ts';
import { errorText } from '../runtime/index.ts';
import { type Connection, explainNode, type Reading } from '../view/index.ts';
import { createEventReader, toEvents } from './events.ts';
import type { NodeDetails } from './messages.ts';

const EVENTS = 20;

export const nodeDetails = async (connection: Connection, reading: Reading, name: string): Promise<NodeDetails> => {
  const { client, namespace } = connection;
  const missing: string[] = [];
  /** Without the right to read it, or when it is gone, there is none. */
  const orNone = async <T>(what: string, work: Promise<T>): Promise<T | undefined> => {
    try {
      return await work;
    } catch (error) {
      if (!isKubeError(error, 'NotFound')) missing.push(`${what}: ${errorText(error)}`);
      return undefined;
    }
  };
  const { phase, cause = '', what, remedy } = await explainNode(connection, reading, name);
  const reader = createEventReader(client, namespace);
  const pods = (reading.ledger.get(name)?.pods ?? []).map(({ facts }) => facts);
  const [node, ...lists] = await Promise.all([
    orNone<Node>('the node', client.get(nodes, { name })),
    ...pods.map((pod) => reader.about(`involvedObject.name=${pod.name}`)),
  ]);
  return {
    node: name,
    phase,
    cause,
    what,
    remedy,
    pods: pods.map((pod) => ({
      name: pod.name,
      revision: pod.revision,
      ready: pod.ready,
      terminating: pod.terminating,
      createdAt: pod.createdAt > 0 ? new Date(pod.createdAt).toISOString() : '',
    })),
    conditions: (node?.status?.conditions ?? []).map((condition) => ({
      type: condition.type,
      status: condition.status,
      reason: condition.reason ?? '',
      message: condition.message ?? '',
      since: condition.lastTransitionTime ?? '',
    })),
    labels: node?.metadata?.labels ?? {},
    events: toEvents(lists.flat(), EVENTS),
    missing: [...missing, ...reader.missing],
  };
};
