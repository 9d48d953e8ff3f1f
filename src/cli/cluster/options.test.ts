import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resolveClusterOptions } from './options.ts';

describe('options of edgeset cluster', () => {
  it('has three nodes on any free port by default, and an absolute file', () => {
    const { kubeconfig, ...rest } = resolveClusterOptions({ kubeconfigOut: 'kc' });
    assert.deepEqual(rest, { nodes: 3, port: 0 });
    assert.match(kubeconfig, /^\/.*\/kc$/);
  });
  it('takes what was typed', () => {
    assert.deepEqual(resolveClusterOptions({ kubeconfigOut: '/kc', nodes: '40', port: '6443' }), {
      kubeconfig: '/kc',
      nodes: 40,
      port: 6443,
    });
    assert.equal(resolveClusterOptions({ kubeconfigOut: '/kc', nodes: '0' }).nodes, 0);
  });
  for (const [flag, flags] of [
    ['--nodes', { nodes: 'many' }],
    ['--nodes', { nodes: '-1' }],
    ['--nodes', { nodes: '20001' }],
    ['--nodes', { nodes: '' }],
    ['--nodes', { nodes: '1.5' }],
    ['--port', { port: '0' }],
    ['--port', { port: '65536' }],
    ['--port', { port: 'http' }],
    ['--kubeconfig-out', { kubeconfigOut: '' }],
  ] as const)
    it(`names ${flag} when it is ${JSON.stringify(Object.values(flags)[0])}`, () => {
      assert.throws(() => resolveClusterOptions({ kubeconfigOut: '/kc', ...flags }), { code: 'InvalidOption', flag });
    });
});
