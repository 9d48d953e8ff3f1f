import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { INSTALL_FILE, renderInstall } from './write-install.ts';

it('deploy/install.yaml is in step with the files that it is made from', () => {
  assert.equal(readFileSync(INSTALL_FILE, 'utf8'), renderInstall(), 'run: npm run generate');
});

it('installs every object once, definitions and namespace before what needs them', () => {
  const objects = parseAllDocuments(renderInstall()).map((document) => {
    assert.deepEqual(document.errors, []);
    const { kind, metadata } = document.toJS() as { kind: string; metadata: { name: string; namespace?: string } };
    return [kind, metadata.namespace, metadata.name].filter(Boolean).join('/');
  });
  assert.equal(new Set(objects).size, objects.length);
  assert.deepEqual(objects.slice(0, 6), [
    'CustomResourceDefinition/daemonsets.apps.kruise.io',
    'CustomResourceDefinition/daemonrollouts.edgeset.io',
    'CustomResourceDefinition/rolloutplans.edgeset.io',
    'CustomResourceDefinition/clusterrolloutplans.edgeset.io',
    'CustomResourceDefinition/rolloutapprovals.edgeset.io',
    'Namespace/edgeset-system',
  ]);
  assert.ok(objects.includes('Deployment/edgeset-system/edgeset-manager'));
});
