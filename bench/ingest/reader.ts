// Takes in all pods and events of the server, by one of two clients, and prints what it took as JSON.
//   bench/ingest/reader.ts edgeset|client-node URL PODS EVENTS; needs --expose-gc

import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { cpuMs, liveHeap, peakResidentOf } from '../measure/machine.ts';

export interface Ingested {
  /** Client code loaded before: from the first request to the whole list in the cache, and from there to the last event. */
  listMs: number;
  watchMs: number;
  cpuMs: number;
  peakBytes: number;
  /** Live objects with everything cached, the client's code included. */
  heapBytes: number;
}

interface Reading {
  listed: () => void;
  seen: (uid: string, version: number) => void;
}
/** Loads a client; what it resolves with starts reading, and resolves with what holds the cache. */
type Load = (url: string) => Promise<(reading: Reading) => Promise<unknown>>;

const readers: Record<string, Load> = {
  async edgeset(url) {
    const { createClient, createReflector, defineResource } = await import('../../src/kube/index.ts');
    const { toPodFacts } = await import('../../src/rollout/index.ts');
    const { silentLogger, systemClock } = await import('../../src/runtime/index.ts');
    const env = { clock: systemClock, random: () => 0.5, log: silentLogger };
    const client = createClient(
      { server: url, namespace: 'default', source: 'bench', insecureSkipTlsVerify: false, auth: {} },
      { env, userAgent: 'edgeset-bench/0', terminal: false },
    );
    const pods = defineResource<Pod>({ group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true });
    return async ({ listed, seen }) => {
      const reflector = createReflector({
        client,
        env,
        resource: pods,
        project: toPodFacts,
        handlers: [{ upsert: (_key, pod) => seen(pod.uid, Number(pod.resourceVersion)), synced: listed }],
      });
      void reflector.run(new AbortController().signal);
      await reflector.whenSynced();
      return reflector;
    };
  },
  async 'client-node'(url) {
    const { CoreV1Api, KubeConfig, makeInformer } = await import('@kubernetes/client-node');
    const config = new KubeConfig();
    config.loadFromOptions({
      clusters: [{ name: 'bench', server: url, skipTLSVerify: true }],
      users: [{ name: 'bench' }],
      contexts: [{ name: 'bench', cluster: 'bench', user: 'bench' }],
      currentContext: 'bench',
    });
    const api = config.makeApiClient(CoreV1Api);
    return async ({ listed, seen }) => {
      const informer = makeInformer(config, '/api/v1/pods', () => api.listPodForAllNamespaces());
      for (const verb of ['add', 'update'] as const)
        informer.on(verb, ({ metadata }) => seen(metadata?.uid ?? '', Number(metadata?.resourceVersion)));
      await informer.start();
      listed();
      return informer;
    };
  },
};

const main = async (name: string, url: string, pods: number, events: number): Promise<void> => {
  const load = readers[name];
  if (!load) throw new Error(`no reader ${name}`);
  const heapBefore = liveHeap();
  const start = await load(url);
  const startedAt = performance.now();
  const known = new Set<string>();
  let listedAt = 0;
  const lastVersion = 1_000 + pods + events;
  const all = Promise.withResolvers<void>();
  const client = await start({
    listed() {
      listedAt ||= performance.now();
    },
    seen(uid, version) {
      known.add(uid);
      if (version === lastVersion) all.resolve();
    },
  });
  await all.promise;
  const endedAt = performance.now();
  if (known.size !== pods) throw new Error(`${known.size} of ${pods} pods were seen`);
  const peakBytes = peakResidentOf('self');
  const usedMs = cpuMs();
  known.clear();
  const result: Ingested = {
    listMs: listedAt - startedAt,
    watchMs: endedAt - listedAt,
    cpuMs: usedMs,
    peakBytes,
    heapBytes: liveHeap() - heapBefore,
  };
  process.stdout.write(JSON.stringify(result));
  // Held until here: the cache is part of what was measured.
  process.exit(client === undefined ? 1 : 0);
};

const [name = '', url = '', pods = '0', events = '0'] = process.argv.slice(2);
if (import.meta.main) await main(name, url, Number(pods), Number(events));
