import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControllerRevision } from 'kubernetes-types/apps/v1.d.ts';
import type { KubeClient, KubeObject, Resource } from '../../../kube/index.ts';
import { toAdvancedView } from '../advanced-view.ts';
import { HASH_LABEL, revisionData } from './history.ts';
import { createHistorySync } from './sync-history.ts';

const MIB = 1024 * 1024;
const template = (image: string, bytes = 0) => ({
  metadata: { labels: { app: 'app' } },
  spec: { containers: [{ name: 'app', image, ...(bytes > 0 && { args: ['x'.repeat(bytes)] }) }] },
});

/** A revision of the DaemonSet, or one that a user of its namespace forged. */
const revision = (number: number, bytes: number): ControllerRevision => ({
  metadata: {
    name: `app-${number}`,
    namespace: 'a',
    uid: `r${number}`,
    labels: { app: 'app', [HASH_LABEL]: String(number) },
    ownerReferences: [
      { apiVersion: 'apps.kruise.io/v1beta1', kind: 'DaemonSet', name: 'app', uid: 'u', controller: true },
    ],
  },
  data: revisionData(template(`app:v${number}`, bytes)),
  revision: number,
});

test('of revisions without number and of any size, templates are kept up to a bound, and what nodes are to keep', async () => {
  const forged = { ...revision(7, 0.9 * MIB), metadata: { ...revision(7, 0).metadata, name: 'app-0' } };
  forged.data = revisionData(template('app:forged'));
  const late = { ...forged, metadata: { ...forged.metadata, name: 'app-9999' } };
  const large = [forged, ...Array.from({ length: 20 }, (_, index) => revision(index + 1, 0.9 * MIB)), late];
  const small = Array.from({ length: 50 }, (_, index) => revision(index + 21, 0));
  const all = [...large, ...small];
  const limits: (number | undefined)[] = [];
  const client: Pick<KubeClient, 'list' | 'create' | 'delete'> = {
    list: <T extends KubeObject>(_resource: Resource<T>, options: { limit?: number } = {}) => {
      limits.push(options.limit);
      return Promise.resolve({ items: structuredClone(all) as unknown as T[], resourceVersion: '1' });
    },
    create: <T extends KubeObject>(_resource: Resource<T>, object: T) => Promise.resolve(object),
    delete: () => Promise.resolve(undefined),
  };
  const view = toAdvancedView({
    apiVersion: 'apps.kruise.io/v1beta1',
    kind: 'DaemonSet',
    metadata: { name: 'app', namespace: 'a', uid: 'u' },
    spec: { selector: { matchLabels: { app: 'app' } }, template: template('app:v99'), revisionHistoryLimit: 100 },
  });
  assert.ok(view);
  const live = new Set(['1', '2', '3', '4', '5', '6', '7', '70']);
  const { signal } = new AbortController();
  const noPreviousOwners = { has: () => Promise.resolve(false) };
  const synced = await createHistorySync(
    { client: client as KubeClient, accept: () => undefined },
    noPreviousOwners,
  ).sync(view, template('app:v99'), { live, held: { name: 'app-7', hash: '7' } }, signal);
  assert.ok(synced.kind === 'synced');
  const { templates, plans, target } = synced.revision;
  const sizes = [...templates.values()].map((each) => JSON.stringify(each).length);
  assert.ok(sizes.reduce((sum, size) => sum + size, 0) < 6.1 * MIB, `${sizes.length} templates`);
  assert.equal(target.number, 71);
  for (const hash of ['1', '4', '70', '30']) assert.ok(templates.has(hash), hash);
  assert.equal(templates.get('7')?.spec?.containers[0]?.image, 'app:v7', 'although others take all of the memory');
  assert.ok(plans.has('70') && !templates.has('20'));
  assert.ok(
    limits.every((limit) => limit !== undefined),
    'page by page',
  );
});
