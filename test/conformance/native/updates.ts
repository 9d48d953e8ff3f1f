import assert from 'node:assert/strict';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { deletedTerminalPod, section } from '../kit/index.ts';

export const updates = section('Updates', (rule) => {
  rule('PodDisruptionBudgets are ignored, as by the native controller', async (c) => {
    await c.api.create(`/apis/policy/v1/namespaces/${c.namespace}/poddisruptionbudgets`, {
      metadata: { name: 'none' },
      spec: { maxUnavailable: 0, selector: { matchLabels: { app: 'app' } } },
    });
    await c.startRollout('app:v2');
    await c.untilRunning('app:v2');
  });

  rule('a pod that has ended and that a finalizer holds is replaced, and holds up no rollout', deletedTerminalPod);

  rule(
    'pods that others keep changing are updated, and conflicts are not reported',
    async (c) => {
      await c.startRollout('app:v2', {
        annotations: { 'apps.openyurt.io/max-unavailable': '2' },
        podAnnotations: { 'sim.edgeset.io/start-ms': '4000' },
      });
      let edits = 0;
      await c.until(
        'all run it',
        async () => {
          const old = (await c.pods()).filter((pod) => pod.image === 'app:v1' && !pod.terminating);
          edits += old.length;
          const body = { metadata: { annotations: { edits: String(edits) } } };
          await Promise.allSettled(
            old.map(({ name }) => c.api.merge(`/api/v1/namespaces/${c.namespace}/pods/${name}`, body)),
          );
          return (await c.running('app:v2')).length === c.nodes.length;
        },
        60_000,
        20,
      );
      assert.ok(edits > 20, `${edits} edits`);
      await c.untilCondition('Complete');
      assert.deepEqual(await c.events('FailedDelete'), []);
    },
    { nodes: 5 },
  );

  rule(
    'a free slot is used soon',
    async (c) => {
      await c.startRollout('app:v2');
      await c.untilRunning('app:v2');
      const { hash } = await c.podOn(c.nodes[0]);
      const healed = new Map<string, number>();
      for (const { namespace, resource, response, answeredAt } of await c.cluster.audit.read()) {
        if (namespace !== c.namespace || resource !== 'pods/status') continue;
        const { metadata, spec, status } = response as Pod;
        const ready = status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True');
        const node = spec?.nodeName ?? '';
        if (ready && metadata?.labels?.['controller-revision-hash'] === hash && !healed.has(node))
          healed.set(node, answeredAt);
      }
      const made = await c.updates();
      const order = await c.updatedNodes();
      const idle = made.slice(1).map(({ receivedAt }, index) => receivedAt - (healed.get(order[index] ?? '') ?? 0));
      const middle = idle.toSorted((a, b) => a - b)[Math.floor(idle.length / 2)] ?? Number.POSITIVE_INFINITY;
      assert.ok(middle >= 0 && middle < 2_500, `slots were idle for ${idle.map(Math.round).join(', ')} ms`);
    },
    { nodes: 6 },
  );
});
