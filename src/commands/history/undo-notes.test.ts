import assert from 'node:assert/strict';
import { it } from 'node:test';
import { templateOwnerWarnings } from './undo-notes.ts';

for (const [who, metadata, warning] of [
  [
    'Argo CD by its annotation',
    { annotations: { 'argocd.argoproj.io/tracking-id': 'shop:apps/DaemonSet:x/y' } },
    /^Argo CD \(application shop\) restores .*stop automated sync/,
  ],
  ['Argo CD by its label', { labels: { 'argocd.argoproj.io/instance': 'shop' } }, /^Argo CD \(application shop\)/],
  ['Argo CD by what it wrote', { managedFields: [{ manager: 'argocd-controller' }] }, /^Argo CD restores/],
  [
    'a Kustomization of Flux',
    { labels: { 'kustomize.toolkit.fluxcd.io/name': 'apps' } },
    /^Flux \(Kustomization apps\) .*run "flux suspend kustomization apps"\.$/,
  ],
  [
    'a HelmRelease of Flux',
    {
      labels: { 'helm.toolkit.fluxcd.io/name': 'web' },
      annotations: { 'meta.helm.sh/release-name': 'web' },
    },
    /^Flux \(HelmRelease web\) .*"flux suspend helmrelease web"/,
  ],
  ['Helm', { annotations: { 'meta.helm.sh/release-name': 'web' } }, /^Helm \(release web\) .*revert the values/],
  [
    'an operator',
    { ownerReferences: [{ apiVersion: 'a/v1', kind: 'Mesh', name: 'm', uid: 'u', controller: true }] },
    /^Mesh m controls the DaemonSet/,
  ],
] as const)
  it(`warns about ${who}`, () => {
    const [first, ...more] = templateOwnerWarnings(
      structuredClone(metadata) as Parameters<typeof templateOwnerWarnings>[0],
    );
    assert.match(first ?? '', warning);
    assert.deepEqual(more, []);
  });

it('does not warn without signs of a tool', () => {
  const labels = { 'app.kubernetes.io/instance': 'web', 'app.kubernetes.io/managed-by': 'me' };
  assert.deepEqual(templateOwnerWarnings({ labels, managedFields: [{ manager: 'kubectl' }] }), []);
  assert.deepEqual(templateOwnerWarnings(undefined), []);
});
