// The product, installed from its chart and images, on real kubelets. Runs in the namespaces that run.ts makes.

import { after, before, describe } from 'node:test';
import { broken } from './cases/broken.ts';
import { downtime } from './cases/downtime.ts';
import { fullDisk } from './cases/full-disk.ts';
import { inPlaceUpdates } from './cases/in-place.ts';
import { manager } from './cases/manager.ts';
import { movedTag } from './cases/moved-tag.ts';
import { offline } from './cases/offline.ts';
import { owners } from './cases/owners.ts';
import { replacements } from './cases/replacement.ts';
import { startNodeCluster } from './cluster.ts';
import { installProduct, type Site } from './product.ts';

const controlGroup = process.env.EDGESET_NODES;
const site: Partial<Site> = {};
// The managers run on the hubs, agents on the nodes c.
const names = ['hub-1', 'hub-2', 'a-1', 'a-2', 'a-3', 'b-1', 'b-2', 'c-1', 'c-2', 'd-1'];

before(async () => {
  if (controlGroup === undefined) throw new Error('these tests need namespaces of their own: run "npm run test:nodes"');
  const specs = names.map((name) => ({
    name,
    labels: { site: name.split('-')[0] ?? '' },
    diskMiB: name === 'd-1' ? 300 : 1024,
  }));
  const cluster = await startNodeCluster(specs, controlGroup);
  site.cluster = cluster;
  site.product = await installProduct(cluster, [
    'manager.nodeSelector.site=hub',
    'agent.enabled=true',
    'agent.allNamespaces=true',
    'agent.nodeSelector.site=c',
  ]);
});
after(() => site.cluster?.stop());

const all = site as Site;
describe('rollouts behind a slow registry', { concurrency: true }, () => downtime(all, ['b-1', 'b-2']));
// Each on nodes of its own; they spend most of their time waiting.
describe('rollouts', { concurrency: true }, () => {
  describe('over nodes that come and go', { concurrency: 1 }, () => offline(all));
  describe('of a bad version', () => broken(all, ['b-1', 'b-2']));
  describe('of a version', () => movedTag(all, ['b-1', 'b-2']));
  describe('on a full disk', () => fullDisk(all, 'd-1'));
  describe('in place', () => inPlaceUpdates(all, ['b-1', 'b-2']));
  describe('that replace pods', () => replacements(all, ['b-1', 'b-2']));
  describe('that owners decide about', { concurrency: 1 }, () => owners(all, ['c-1', 'c-2']));
});
describe('a rollout', () => manager(all, ['a-1', 'a-2', 'a-3']));
