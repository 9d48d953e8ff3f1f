import type { EventRecorder } from '../../kube/index.ts';
import type { PodCache } from '../pods/index.ts';
import type { Owner } from '../types.ts';
import { refKey } from '../updates/index.ts';

/** The Events that the agent records on a DaemonSet. */
const types = {
  OwnerDecided: 'Normal',
  UpdateCarriedOut: 'Normal',
  DecisionSuperseded: 'Normal',
  UpdateRefused: 'Warning',
  UpdateNotComputable: 'Warning',
} as const;

export interface AgentEvents {
  /** Records an Event once per `reason`, DaemonSet and `key`. While offline, Events wait; the oldest are dropped first. */
  record(owner: Owner, reason: keyof typeof types, key: string, note: string): void;
  stop(): void;
}

const MAX_WAITING = 100;
const MAX_REMEMBERED = 500;

export const createAgentEvents = (
  recorder: Pick<EventRecorder, 'event'>,
  cache: Pick<PodCache, 'connected' | 'onChange'>,
  node: string,
): AgentEvents => {
  const recorded = new Set<string>();
  const waiting: Parameters<EventRecorder['event']>[0][] = [];
  const flush = (): void => {
    if (cache.connected()) for (const input of waiting.splice(0)) recorder.event(input);
  };
  return {
    record(owner, reason, key, note) {
      const id = `${reason} ${refKey(owner)} ${key}`;
      if (recorded.has(id)) return;
      recorded.add(id);
      if (recorded.size > MAX_REMEMBERED) for (const oldest of [...recorded].slice(0, 1)) recorded.delete(oldest);
      const { apiVersion, namespace, daemonSet: name, uid } = owner;
      waiting.push({
        regarding: { apiVersion, kind: 'DaemonSet', namespace, name, uid },
        type: types[reason],
        reason,
        action: 'OwnerUpdate',
        note: `Node ${node}: ${note}`,
      });
      if (waiting.length > MAX_WAITING) waiting.shift();
      flush();
    },
    stop: cache.onChange(flush),
  };
};
