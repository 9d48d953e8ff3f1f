import type { ControllerRevision } from 'kubernetes-types/apps/v1.d.ts';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { controllerRevisions, daemonSets, nodes, pods } from '../../../src/kube/index.ts';
import type { Agent, AuditRecord, Cluster } from '../../conformance/index.ts';
import { daemonSetOf, type PodView, strategyKey, toPodView } from '../../conformance/kit/objects.ts';
import { until } from '../../conformance/kit/until.ts';

export interface Announced {
  /** The pod on the agent's node; `elsewhere`: on the other node. */
  pod: string;
  elsewhere: string;
  revision: string;
}

/** A cluster with one DaemonSet in OTA mode on two nodes, and an agent on the first one. */
export interface Target {
  cluster: Cluster;
  namespace: string;
  agent: Agent;
  /** A pod of another namespace on the agent's node, with an announced update, too. */
  foreign: { namespace: string; pod: string };
  /** Announces a new revision on both nodes; resolves when the agent shows it. */
  announce(): Promise<Announced>;
  /** All writes of agents so far, including Events. */
  writes(): Promise<AuditRecord[]>;
  /** Error responses so far, and how many of them were refusals by the server itself. */
  errors(): Promise<{ answered: number; refused: number }>;
  /** Deletes a pod as an administrator. */
  remove(pod: string): Promise<void>;
  /** The pod on the agent's node that replaced another one. */
  podAfter(former: string): Promise<PodView>;
}

const NODES = ['hostile-1', 'hostile-2'] as const;
const READS: readonly string[] = ['get', 'list', 'watch'];

const hashOf = ({ metadata }: ControllerRevision): string => metadata?.labels?.['controller-revision-hash'] ?? '';

/** A time zone where it is about noon now, so that a decision for the night waits whenever this runs. */
const noonZone = (): string => {
  const offset = 12 - new Date().getUTCHours();
  return `${offset < 0 ? '-' : '+'}${String(Math.abs(offset)).padStart(2, '0')}:00`;
};

export const openTarget = async (cluster: Cluster): Promise<Target> => {
  const { client } = cluster;
  const [namespace, other] = [await cluster.createNamespace('hostile'), await cluster.createNamespace('foreign')];
  await cluster.addNodes(NODES, { labels: { case: namespace } });
  await client.patch(nodes, { name: NODES[0] }, { metadata: { labels: { foreign: other } } }, { type: 'merge' });
  const annotations = { [strategyKey]: 'ota' };
  const podAnnotations = { 'sim.edgeset.io/stop-ms': '1500' };
  await client.create(daemonSets, daemonSetOf(namespace, { annotations, podAnnotations }));
  const podSpec = { nodeSelector: { foreign: other } };
  await client.create(daemonSets, daemonSetOf(other, { annotations, podAnnotations, podSpec }));

  const podOn = (inNamespace: string, node: string, former = ''): Promise<PodView> =>
    until(`a pod is ready on ${node}`, async () => {
      const { items } = await client.list(pods, { namespace: inNamespace });
      return items
        .map((pod: Pod) => toPodView(pod))
        .find((pod) => pod.node === node && pod.name !== former && pod.ready && !pod.terminating);
    });

  /** Announces the update like the manager, which is not part of this suite. */
  const announceOn = async (inNamespace: string, pod: PodView, revision: string): Promise<void> => {
    const condition = {
      type: 'PodNeedUpgrade',
      status: 'True',
      reason: 'NewRevision',
      message: `controllerrevision: ${revision}`,
      lastTransitionTime: new Date().toISOString(),
    };
    const options = { type: 'strategic', subresource: 'status' } as const;
    await client.patch(
      pods,
      { namespace: inNamespace, name: pod.name },
      { status: { conditions: [condition] } },
      options,
    );
  };

  const newRevision = async (inNamespace: string, image: string): Promise<string> => {
    const containers = [{ name: 'app', image }];
    await client.patch(
      daemonSets,
      { namespace: inNamespace, name: 'app' },
      { spec: { template: { spec: { containers } } } },
      { type: 'strategic' },
    );
    const revision = await until('the new revision is recorded', async () => {
      const { items } = await client.list(controllerRevisions, { namespace: inNamespace });
      return items.find(({ data }) => JSON.stringify(data).includes(`"${image}"`));
    });
    return hashOf(revision);
  };

  await Promise.all(NODES.map((node) => podOn(namespace, node)));
  const foreign = await podOn(other, NODES[0]);
  await announceOn(other, foreign, await newRevision(other, 'app:v2'));
  const args = ['--metrics-bind-address=127.0.0.1:0', `--time-zone=${noonZone()}`];
  const agent = await cluster.startAgent({ node: NODES[0], namespace, args });
  const metrics = await until('the agent says where its metrics are', async () => {
    const [, address] = /"serving metrics","address":"([^"]+)"/.exec(await agent.log()) ?? [];
    return address;
  });
  // By its own write, which is none of an attack.
  await until('the agent has checked its rights', async () => /restricts/.test(await agent.log()));
  let version = 1;

  return {
    cluster,
    namespace,
    agent,
    foreign: { namespace: other, pod: foreign.name },
    podAfter: (former) => podOn(namespace, NODES[0], former),
    async announce() {
      version += 1;
      const revision = await newRevision(namespace, `app:v${version}`);
      const [here, elsewhere] = [await podOn(namespace, NODES[0]), await podOn(namespace, NODES[1])];
      await Promise.all([announceOn(namespace, here, revision), announceOn(namespace, elsewhere, revision)]);
      await until('the agent shows the new revision', async () => {
        const answer = await fetch(`${agent.url}/edgeset.io/v1/updates`);
        const { items } = (await answer.json()) as {
          items: { pod: string | null; target: { revision: string | null } }[];
        };
        return items.some(({ pod, target }) => pod === here.name && target.revision === revision);
      });
      return { pod: here.name, elsewhere: elsewhere.name, revision };
    },
    writes: async () =>
      (await cluster.audit.read()).filter(({ user, verb }) => user === agent.user && !READS.includes(verb)),
    async errors() {
      const page = await (await fetch(`http://${metrics}/metrics`)).text();
      const sum = (pattern: RegExp): number => [...page.matchAll(pattern)].reduce((all, [, n]) => all + Number(n), 0);
      return {
        answered: sum(/^edgeset_agent_answers_total\{code="[45]\d\d"\} (\d+)$/gm),
        refused: sum(/^edgeset_agent_refusals_total\{reason="\w+"\} (\d+)$/gm),
      };
    },
    remove: async (pod) => void (await client.delete(pods, { namespace, name: pod })),
  };
};
