import type { EventRecorder } from '../../kube/index.ts';
import type { PodCache } from '../pods/index.ts';
import { type Owner, refKey } from '../updates/index.ts';

/** Events on the DaemonSet that the agent reports, with whether they are warnings. */
const kinds = {
  OwnerDecided: 'Normal',
  UpdateCarriedOut: 'Normal',
  DecisionSuperseded: 'Normal',
  UpdateRefused: 'Warning',
} as const;

export interface AgentEvents {
  /** Once for each `reason`, DaemonSet and `once`; kept while there is no link, and sent when there is. */
  record(owner: Owner, reason: keyof typeof kinds, once: string, note: string): void;
  /** The oldest are dropped first. */
  stop(): void;
}

const MOST_WAITING = 100;
const MOST_REMEMBERED = 500;

export const createAgentEvents = (
  events: Pick<EventRecorder, 'event'>,
  cache: Pick<PodCache, 'connected' | 'onChange'>,
  node: string,
): AgentEvents => {
  const told = new Set<string>();
  const waiting: Parameters<EventRecorder['event']>[0][] = [];
  const flush = (): void => {
    if (cache.connected()) for (const input of waiting.splice(0)) events.event(input);
  };
  const off = cache.onChange(flush);
  return {
    record(owner, reason, once, note) {
      const key = `${reason} ${refKey(owner)} ${once}`;
      if (told.has(key)) return;
      told.add(key);
      if (told.size > MOST_REMEMBERED) for (const oldest of [...told].slice(0, 1)) told.delete(oldest);
      const { apiVersion, namespace, daemonSet: name, uid } = owner;
      waiting.push({
        regarding: { apiVersion, kind: 'DaemonSet', namespace, name, uid },
        type: kinds[reason],
        reason,
        action: 'OwnerUpdate',
        note: `Node ${node}: ${note}`,
      });
      if (waiting.length > MOST_WAITING) waiting.shift();
      flush();
    },
    stop: off,
  };
};
