// The chart by itself: what Helm and the API server say of it, and what it renders.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { renderDeploy } from '../../../scripts/write-deploy.ts';
import { kubectl, type RealCluster, startCluster } from '../index.ts';
import { chart, createHelm, type Helm, type HelmProgram, release } from './helm.ts';
import { accepted, refused } from './values.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeset-chart-'));
after(() => rmSync(folder, { recursive: true }));
let files = 0;
const fileOf = (values: object): string => {
  const file = join(folder, `${++files}.json`);
  writeFileSync(file, JSON.stringify(values));
  return file;
};
// The releases of Helm know of a version without a cluster; what is built here does not.
const rendering = ['--namespace', release.namespace, '--kube-version=1.34.0'];
const template = (helm: Helm, values: object): Promise<string> =>
  helm('template', release.name, chart, ...rendering, '--values', fileOf(values));

const objectsIn = (rendered: string): unknown[] =>
  parseAllDocuments(rendered)
    .map((document) => document.toJS() as unknown)
    .filter((object) => object !== null);

it('deploy/ is what the chart renders', async () => {
  for (const [file, content] of await renderDeploy())
    assert.equal(readFileSync(file, 'utf8'), content, 'run: npm run generate');
});

for (const program of ['helm', 'helm3'] as const satisfies HelmProgram[])
  describe(`by ${program}`, () => {
    let helm: Helm;
    before(async () => {
      helm = await createHelm('', program);
    });

    it('has nothing that a strict lint complains of', async () => {
      for (const values of Object.values(accepted))
        assert.match(await helm('lint', '--strict', chart, '--values', fileOf(values)), /0 chart\(s\) failed/);
    });

    it('refuses bad values, and names the field', async () => {
      for (const [values, says] of refused) await assert.rejects(template(helm, values), says);
    });
  });

it('Helm 3 renders what Helm 4 renders', async () => {
  const [four, three] = await Promise.all([createHelm('', 'helm'), createHelm('', 'helm3')]);
  for (const values of Object.values(accepted))
    assert.deepEqual(objectsIn(await template(three, values)), objectsIn(await template(four, values)));
});

describe('on a real API server', () => {
  let cluster: RealCluster;
  before(async () => {
    cluster = await startCluster();
    const namespaces = [release.namespace, 'edgeset-agent', 'agents', 'shop', 'vehicles'];
    for (const name of namespaces) await kubectl(cluster.kubeconfig, ['create', 'namespace', name]);
    const definitions = ['--filename', join(import.meta.dirname, 'prometheus-operator.yaml')];
    await kubectl(cluster.kubeconfig, ['create', ...definitions]);
    await kubectl(cluster.kubeconfig, ['wait', '--for=condition=Established', 'crd', '--all', '--timeout=30s']);
  });
  after(() => cluster.stop());

  for (const [what, values] of Object.entries(accepted))
    it(`${what}: every object is valid`, async () => {
      const rendered = await template(await createHelm(''), values);
      const apply = ['apply', '--server-side', '--dry-run=server', '--validate=strict', '--filename=-'];
      const said = await kubectl(cluster.kubeconfig, apply, rendered);
      assert.equal(said.match(/\(server dry run\)/g)?.length, objectsIn(rendered).length);
    });
});
