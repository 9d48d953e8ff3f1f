import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { eventually } from '../../support/index.ts';
import { deployApp } from '../app.ts';
import type { Site } from '../product.ts';

const sample = join(import.meta.dirname, '../../../examples/drain-before-delete/drain-before-delete.sh');

/** Advanced DaemonSets that replace pods: with a surge, and after a hook. */
export const replacements = (site: Site, nodes: readonly [string, string]): void => {
  it('leave the old pod in service when the port of the host keeps a surge from starting', async () => {
    const image = site.cluster.images.add('port:v1');
    const app = await deployApp({
      cluster: site.cluster,
      name: 'port',
      nodes,
      kind: 'advanced',
      image,
      spec: { updateStrategy: { rollingUpdate: { rollingUpdateType: 'Surging' } } },
      container: { ports: [{ containerPort: 8080, hostPort: 18080 }] },
    });
    await app.change({ image: site.cluster.images.add('port:v2') });
    const events = ['get', 'events', '-n', app.namespace, '--field-selector', 'reason=FailedPlacement', '-o', 'name'];
    await eventually('an Event reports it', () => site.cluster.kubectl(...events), { everyMs: 500 });
    await site.product.plugin('undo', app.reference, '-n', app.namespace);
    await app.untilRunning(image);
    assert.equal(app.timeline.mostDown(), 0);
    await app.remove();
  });

  it("wait for the sample controller's preDelete hook", async () => {
    const app = await deployApp({
      cluster: site.cluster,
      name: 'drain',
      nodes,
      kind: 'advanced',
      image: site.cluster.images.add('drain:v1'),
      labels: { 'example.com/drain': 'true' },
      spec: { lifecycle: { preDelete: { labelsHandler: { 'example.com/drain': 'true' }, markPodNotReady: true } } },
    });
    const old = (await app.pods()).map(({ metadata }) => metadata?.name ?? '').toSorted();
    const drained = join(tmpdir(), `${app.namespace}.drained`);
    const environment = { KUBECONFIG: site.cluster.kubeconfig, NAMESPACE: app.namespace };
    const controller = spawn(sample, ['sh', '-c', `echo "$1" >> ${drained}`, 'drain'], {
      env: { ...process.env, ...environment },
      stdio: 'ignore',
    });
    try {
      const image = site.cluster.images.add('drain:v2');
      await app.change({ image });
      await app.untilRunning(image);
    } finally {
      controller.kill();
    }
    assert.deepEqual((await readFile(drained, 'utf8')).trim().split('\n').toSorted(), old);
    assert.equal(app.timeline.mostDown(), 1);
    // Nobody would let the pods go.
    await app.merge({ spec: { lifecycle: null } });
    await app.remove();
  });
};
