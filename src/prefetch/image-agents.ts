import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { createReflector, type KubeClient, pods } from '../kube/index.ts';
import { type Env, sleep } from '../runtime/index.ts';
import { ownKey } from '../words/index.ts';

export interface ImageAgentsOptions {
  client: KubeClient;
  env: Env;
  /** Namespace and service account of the agents. A pod of anybody else may have the label, too. */
  account: { namespace: string; name: string };
}

/** A list that is not permitted is not waited for longer: nodes may report their agents. */
const LIST_TIMEOUT_MS = 10_000;
const BY_NODE = 'node';

const readyNode = ({ metadata, spec, status }: Pod): string | undefined => {
  const ready = status?.conditions?.some(({ type, status: word }) => type === 'Ready' && word === 'True');
  return ready && metadata?.deletionTimestamp == null ? spec?.nodeName : undefined;
};

export interface ImageAgents {
  has: (node: string) => boolean;
  onChange(listener: (node: string) => void): () => void;
  /** The agents are known, or the wait has timed out. */
  isSettled: () => boolean;
  settled: Promise<void>;
  /** Keeps the cache until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** The nodes with an agent that pulls images: those with a ready pod that has the agents' label and account. */
export const createImageAgents = ({ client, env, account }: ImageAgentsOptions): ImageAgents => {
  const listeners = new Set<(node: string) => void>();
  const settled = Promise.withResolvers<void>();
  let isSettled = false;

  const notify = (...nodes: (string | undefined)[]): void => {
    for (const node of new Set(nodes)) if (node !== undefined) for (const listener of listeners) listener(node);
  };
  const settle = (): void => {
    isSettled = true;
    settled.resolve();
  };

  const reflector = createReflector({
    client,
    env: { ...env, log: env.log.with({ part: 'agents' }) },
    resource: pods,
    labelSelector: `${ownKey.imageAgent}=true`,
    namespace: account.namespace,
    project: (pod) => (pod.spec?.serviceAccountName === account.name ? { node: readyNode(pod) } : undefined),
    indexes: { [BY_NODE]: ({ node }) => (node === undefined ? [] : [node]) },
    handlers: [
      {
        upsert(_key, { node }, previous) {
          if (node !== previous?.node) notify(node, previous?.node);
        },
        remove: (_key, { node }) => notify(node),
      },
    ],
  });

  return {
    has: (node) => reflector.store.byIndex(BY_NODE, node).length > 0,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    isSettled: () => isSettled,
    settled: settled.promise,
    async run(signal) {
      reflector.whenSynced(signal).then(settle, () => undefined);
      sleep(env.clock, LIST_TIMEOUT_MS, signal).then(settle, () => undefined);
      await reflector.run(signal);
    },
  };
};
