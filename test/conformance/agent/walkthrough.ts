import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { nginxManifest, section, workers } from '../kit/index.ts';
import { conditionOf, withOwner } from './owner.ts';

const run = promisify(execFile);

const [worker, worker2, worker3] = workers;

/** OpenYurt's tutorial of the OTA model, by its own commands and names. */
export const walkthrough = section('The OTA walkthrough of OpenYurt', (rule) => {
  rule(
    'one pod is upgraded by curl on its node, and the two others are unchanged',
    async (c) => {
      const podOn = (node: string): Promise<string> =>
        c.kubectl([
          'get',
          'pods',
          `--field-selector=spec.nodeName=${node}`,
          '-o',
          'jsonpath={.items[*].metadata.name}',
        ]);
      const described = async (node: string) => {
        const text = await c.kubectl(['describe', 'pods', await podOn(node)]);
        return {
          need: /PodNeedUpgrade +(\w+)/.exec(text)?.[1],
          image: /Image: +(\S+)/.exec(text)?.[1],
          ready: /\bReady +True/.test(text),
        };
      };
      const untilDescribed = (node: string, need: string, image: string) =>
        c.until(`${node} runs ${image}, PodNeedUpgrade ${need}`, async () => {
          const now = await described(node);
          return now.ready && now.need === need && now.image === image;
        });

      await c.kubectl(['apply', '-f', '-'], nginxManifest('ota', 'nginx:1.19.4'));
      for (const node of c.nodes) await untilDescribed(node, 'False', 'nginx:1.19.4');
      await c.kubectl(['apply', '-f', '-'], nginxManifest('ota', 'nginx:1.19.5'));
      for (const node of c.nodes) await untilDescribed(node, 'True', 'nginx:1.19.4');

      const names = await Promise.all(c.nodes.map(podOn));
      const pod = await podOn(worker2);
      await withOwner(c, { node: worker2 }, async (owner) => {
        const need = await c.until('GET /pods shows the condition', async () => {
          const { items } = await owner.pods();
          return conditionOf(
            items.find(({ metadata }) => metadata?.name === pod),
            'PodNeedUpgrade',
          )?.status;
        });
        assert.equal(need, 'True');
        const path = `/openyurt.io/v1/namespaces/${c.namespace}/pods/${pod}/upgrade`;
        const { stdout } = await run('curl', ['-sS', '-X', 'POST', `127.0.0.1:${owner.agent.port}${path}`]);
        assert.equal(stdout.trimEnd(), `Start updating pod ${c.namespace}/${pod}`);
        await untilDescribed(worker2, 'False', 'nginx:1.19.5');
      });
      assert.notEqual(await podOn(worker2), pod);
      for (const node of [worker, worker3]) {
        await untilDescribed(node, 'True', 'nginx:1.19.4');
        assert.ok(names.includes(await podOn(node)), `the pod on ${node} is the same`);
      }
      assert.deepEqual(await c.updates(), [], 'the manager deletes nothing');
    },
    { nodes: [worker, worker2, worker3], daemonSets: ['nginx-daemonset'], forAll: true },
  );
});
