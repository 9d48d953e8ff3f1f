import assert from 'node:assert/strict';
import type { Lease } from 'kubernetes-types/coordination/v1.d.ts';
import { type Case, nginxManifest, section, workers } from '../kit/index.ts';
import { announcements, byOwner, ota, untilSaid } from './ota-kit.ts';

const UP_TO_DATE = 'False UpToDate';
const NEW = 'True NewRevision';
const HALTED = 'True Halted';

const [worker, worker2, worker3] = workers;

const electing = [
  '--leader-elect=true',
  '--leader-election-lease-duration=4s',
  '--leader-election-renew-deadline=3s',
  '--leader-election-retry-period=500ms',
];

const holder = async (c: Case): Promise<string> => {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${c.namespace}/leases/edgeset-manager`;
  return (await c.api.get<Lease>(path)).spec?.holderIdentity ?? '';
};

export const announcingFaults = section('OTA', (rule) => {
  rule(
    'a version that fails on nodes whose owners approved it is halted for the others, until the user resumes or changes it',
    async (c) => {
      await c.startRollout('app:v2--crash-loop', { annotations: { ...ota, 'edgeset.io/failure-threshold': '2' } });
      await untilSaid(c, [NEW, NEW, NEW, NEW]);
      await byOwner(c, c.nodes[0]);
      await c.until('the first fails', async () => (await c.status()).breaker?.failures === 1);
      await untilSaid(c, [UP_TO_DATE, NEW, NEW, NEW]);
      await byOwner(c, c.nodes[1]);
      const halted = await c.untilCondition('Halted');
      assert.match(
        halted.message,
        new RegExp(`failed on 2 nodes: ${c.nodes[0]}, ${c.nodes[1]}. .*Roll back, set a template that works`),
      );
      await untilSaid(c, [UP_TO_DATE, UP_TO_DATE, HALTED, HALTED]);
      await c.untilEvent('RolloutHalted');
      await c.until('no owner is asked', async () => (await c.status()).owners?.asked === 0);

      await c.annotate({ 'edgeset.io/resume': (await c.status()).target?.hash ?? '' });
      await untilSaid(c, [UP_TO_DATE, UP_TO_DATE, NEW, NEW]);
      await c.untilEvent('RolloutResumed');
      await byOwner(c, c.nodes[2], c.nodes[3]);
      await c.untilCondition('Halted');
      await c.setImage('app:v3');
      await untilSaid(c, [NEW, NEW, NEW, NEW]);
      await byOwner(c, ...c.nodes);
      await c.untilComplete('app:v3');
      assert.deepEqual(await c.updates(), []);
    },
    { nodes: 4 },
  );

  rule('nodes that go offline soon after their owner updated them are suspects, and then failures', async (c) => {
    await c.startRollout('app:v2', {
      annotations: { ...ota, 'edgeset.io/failure-threshold': '1', 'edgeset.io/suspect-window-seconds': '20' },
    });
    await untilSaid(c, [NEW, NEW, NEW]);
    await byOwner(c, c.nodes[0]);
    await c.untilRunning('app:v2', c.nodes.slice(0, 1));
    await c.cluster.offline(c.nodes.slice(0, 1));
    await untilSaid(c, [UP_TO_DATE, HALTED, HALTED]);
    await c.until(
      'suspects are waited for',
      async () => (await c.condition('Halted'))?.reason === 'WaitingForSuspects',
    );
    await c.untilCondition('Halted');
    await c.cluster.online(c.nodes.slice(0, 1));
    await untilSaid(c, [UP_TO_DATE, HALTED, HALTED]);
  });

  rule(
    'a leader that is stopped past its lease and continues beside its successor leaves announcements correct',
    async (c) => {
      await c.rolledOut({ annotations: ota });
      const first = await holder(c);
      await c.startManager({ args: electing });
      await c.setImage('app:v2');
      await c.until('pods are told', async () => (await announcements(c)).length > 10);
      c.manager.pause();
      await c.until('the other leads', async () => (await holder(c)) !== first);
      await c.setImage('app:v3');
      const all = c.nodes.map(() => NEW);
      await untilSaid(c, all);
      c.manager.resume();
      await c.expectNoUpdatesFor(5);
      await untilSaid(c, all);
      await c.setImage('app:v1');
      await untilSaid(
        c,
        c.nodes.map(() => UP_TO_DATE),
      );
    },
    {
      nodes: 10,
      manager: electing,
      expected:
        /leadership lost|renew the lease|release the lease|lost leadership|processing failed|watch failed|a watch is down|failed to write condition PodNeedUpgrade/,
    },
  );

  rule(
    'the walkthrough of OpenYurt up to the condition, with the owner deleting the pod',
    async (c) => {
      const need = async (node: string): Promise<string> => {
        const path = `/api/v1/namespaces/${c.namespace}/pods?fieldSelector=spec.nodeName%3D${node}`;
        type Pods = { items: { metadata: { name: string } }[] };
        const { items } = await c.api.get<Pods>(path);
        const text = await c.kubectl(['describe', 'pod', items[0]?.metadata.name ?? '']);
        return /PodNeedUpgrade +(\w+)/.exec(text)?.[1] ?? '';
      };
      const untilNeed = (status: string, nodes: readonly string[]) =>
        c.until(`PodNeedUpgrade is ${status}`, async () =>
          (await Promise.all(nodes.map(need))).every((one) => one === status),
        );
      const all = [worker, worker2, worker3] as const;
      await c.kubectl(['apply', '-f', '-'], nginxManifest('ota', 'nginx:1.19.4'));
      await untilNeed('False', all);
      await c.kubectl(['apply', '-f', '-'], nginxManifest('ota', 'nginx:1.19.5'));
      await untilNeed('True', all);
      await c.kubectl(['delete', 'pod', `--field-selector=spec.nodeName=${worker2}`, '-l', 'app=nginx']);
      await untilNeed('False', [worker2]);
      await untilNeed('True', [worker, worker3]);
      const columns = ['-o', 'jsonpath={.status.strategy} {.status.owners.asked}'];
      await c.until(
        'the rollout counts',
        async () => (await c.kubectl(['get', 'dro', 'nginx-daemonset', ...columns])) === 'ota 2',
      );
    },
    { nodes: [worker, worker2, worker3], daemonSets: ['nginx-daemonset'], forAll: true },
  );
});
