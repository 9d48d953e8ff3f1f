import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isKubeError, type KubeErrorCode, namespaces, pods } from '../../src/kube/index.ts';
import type { StoredPod } from '../resources.ts';
import type { Change } from '../types.ts';
import { configMap, configMaps, createTestServer, pod } from './testing/index.ts';

const ref = (name: string) => ({ namespace: 'default', name });

const refuses = (act: () => unknown, code: KubeErrorCode, message: RegExp): void => {
  assert.throws(act, (error) => isKubeError(error, code) && message.test(error.message));
};

// test/embedded/parity compares responses and watches with those of a real API server.
describe('the embedded API server in process', () => {
  it('makes the same names and UIDs from the same random source', () => {
    const make = (): unknown => {
      const { apiServer } = createTestServer();
      return apiServer.create<object>(pods, { ...pod('x'), metadata: { namespace: 'default', generateName: 'x-' } });
    };
    assert.deepEqual(make(), make());
  });

  it('rejects creates in missing and terminating namespaces', () => {
    const { apiServer } = createTestServer();
    const inShop = { ...configMap('c'), metadata: { namespace: 'shop', name: 'c' } };
    refuses(() => apiServer.create(configMaps, inShop), 'NotFound', /namespaces "shop" not found/);
    apiServer.create<object>(namespaces, { metadata: { name: 'shop' } });
    apiServer.create(configMaps, inShop);
    apiServer.delete(namespaces, { name: 'shop' });
    const late = { ...inShop, metadata: { namespace: 'shop', name: 'late' } };
    refuses(() => apiServer.create(configMaps, late), 'Forbidden', /because it is being terminated/);
  });

  it('delivers changes in commit order, including those made by handlers', () => {
    const { apiServer } = createTestServer();
    const received: string[] = [];
    apiServer.subscribe(({ type, object }) => {
      if (type === 'ADDED' && object.metadata.name === 'first')
        apiServer.create<object>(configMaps, configMap('second'));
    });
    const end = apiServer.subscribe(({ type, object }: Change) => received.push(`${type} ${object.metadata.name}`));
    apiServer.create<object>(configMaps, configMap('first'));
    apiServer.delete(configMaps, ref('first'));
    end();
    apiServer.delete(configMaps, ref('second'));
    assert.deepEqual(received, ['ADDED first', 'ADDED second', 'DELETED first']);
  });

  it('finds the pods of a node, with and without the index', () => {
    const { apiServer } = createTestServer();
    for (const name of ['b', 'a', 'c']) apiServer.create<object>(pods, pod(name, name === 'c' ? 'n2' : 'n1'));
    const names = (fieldSelector: string): string[] =>
      apiServer.list<StoredPod>(pods, { fieldSelector }).map(({ metadata }) => metadata.name);
    assert.deepEqual(names('spec.nodeName=n1'), ['a', 'b']);
    assert.deepEqual(names('spec.nodeName!=n2'), ['a', 'b']);
    apiServer.delete(pods, ref('a'), { gracePeriodSeconds: 0 });
    assert.deepEqual(names('spec.nodeName=n1'), ['b']);
    refuses(() => apiServer.list(pods, { fieldSelector: 'spec.nope=1' }), 'BadRequest', /field label not supported/);
  });
});
