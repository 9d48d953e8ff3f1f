import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node, NodeSystemInfo } from 'kubernetes-types/core/v1.d.ts';
import { createNodeReader, type NodeInfo } from './node.ts';
import { diskShortage, listedState } from './node-images.ts';

const GIB = 2 ** 30;
/** Sizes in GiB by name, as a kubelet lists them. */
type Sizes = Readonly<Record<string, number>>;

const listedIn = (sizes: Sizes) =>
  Object.entries(sizes).map(([name, size]) => ({ names: [name], sizeBytes: size * GIB }));

/** A fleet whose disks give 10 GiB to pods. */
const createFleet = () => {
  const read = createNodeReader();
  let nodes = 0;
  return (sizes: Sizes, change: { arch?: string; disk?: string; pressure?: string } = {}): NodeInfo => {
    nodes += 1;
    const { arch = 'amd64', disk = '10Gi', pressure = 'False' } = change;
    return read({
      metadata: { name: `n${nodes}` },
      status: {
        nodeInfo: { architecture: arch } as NodeSystemInfo,
        allocatable: { cpu: '4', 'ephemeral-storage': disk },
        conditions: [{ type: 'DiskPressure', status: pressure }],
        images: listedIn(sizes),
      },
    });
  };
};
const APP = 'docker.io/library/app:v2';
const other = { 'r.example/other:v1': 1 };

describe('the disk of a node', () => {
  it('is full under DiskPressure, whatever the sizes are', () => {
    const node = createFleet();
    assert.match(diskShortage(node({}, { pressure: 'True' }), ['app:v2']) ?? '', /condition DiskPressure is True/);
    assert.equal(diskShortage(node({}, { pressure: 'Unknown' }), ['app:v2']), undefined);
  });

  it('has no room for an image of the size that another node of its architecture lists', () => {
    const node = createFleet();
    for (let each = 0; each < 2; each += 1) node({ [APP]: 3 });
    const full = { 'r.example/big:v1': 8 };
    assert.match(
      diskShortage(node(full), ['app:v2']) ?? '',
      /no room: its images take 8\.0 GiB, the missing ones 3\.0 GiB, of 10\.0 GiB/,
    );
    assert.equal(diskShortage(node({ 'r.example/big:v1': 7 }), ['app:v2']), undefined);
    assert.equal(diskShortage(node(full, { arch: 'arm64' }), ['app:v2']), undefined);
    assert.match(diskShortage(node(full, { disk: '10737418240' }), ['app:v2']) ?? '', /no room/);
  });

  it('is not known to be short: unknown sizes, images that are there, numbers that do not fit together', () => {
    const node = createFleet();
    const full = { 'r.example/big:v1': 8 };
    assert.equal(diskShortage(node(full), ['app:v2']), undefined, 'nobody lists it');
    for (let each = 0; each < 2; each += 1) node({ [APP]: 3 });
    assert.equal(diskShortage(node({ ...full, [APP]: 3 }), ['app:v2']), undefined, 'it is there');
    assert.equal(diskShortage(node({ 'r.example/a:v1': 8, 'r.example/b:v1': 8 }), ['app:v2']), undefined);
    for (const disk of ['', 'much', '0']) assert.equal(diskShortage(node(full, { disk }), ['app:v2']), undefined, disk);
    assert.equal(diskShortage({}, ['app:v2']), undefined);
  });
});

describe('what one node claims', () => {
  it('of the size of an image keeps no other node waiting', () => {
    const node = createFleet();
    node({ [APP]: 1e6 });
    assert.equal(diskShortage(node({ 'r.example/big:v1': 5 }), ['app:v2']), undefined);
    assert.equal(listedState(node(other).images, ['app:v2']), undefined);
    node({ [APP]: 3 });
    assert.equal(diskShortage(node({ 'r.example/big:v1': 5 }), ['app:v2']), undefined, 'the least counts');
    assert.match(diskShortage(node({ 'r.example/big:v1': 8 }), ['app:v2']) ?? '', /no room/);
  });

  it('counts for itself', () => {
    const read = createNodeReader();
    const listing = (sizes: Sizes): NodeInfo => read({ metadata: { name: 'n1' }, status: { images: listedIn(sizes) } });
    listing({ ...other, [APP]: 3 });
    assert.equal(listedState(listing(other).images, ['app:v2']), 'not-all');
  });
});

describe('a list of images', () => {
  it('proves that an image is gone if it lists a smaller one, however few it may list', () => {
    const node = createFleet();
    for (let each = 0; each < 2; each += 1) node({ [APP]: 3 });
    assert.equal(listedState(node(other).images, ['app:v2']), 'not-all');
    assert.ok(
      listedState(node({ 'r.example/big:v1': 4 }).images, ['app:v2']) !== 'not-all',
      'the limit may have cut it off',
    );
    assert.equal(listedState(node({ ...other, [APP]: 3 }).images, ['app:v2']), 'all');
    assert.equal(listedState(node({ ...other, [APP]: 3 }).images, []), undefined);
  });

  it('proves nothing about an image that no node of the architecture lists, nor if it may leave out names', () => {
    const node = createFleet();
    for (let each = 0; each < 2; each += 1) node({ [APP]: 3 }, { arch: 'arm64' });
    assert.equal(listedState(node(other).images, ['app:v2']), undefined);
    for (let each = 0; each < 2; each += 1) node({ [APP]: 3 });
    assert.equal(listedState(node(other).images, ['app:v2']), 'not-all');
    const read = createNodeReader();
    const images = [
      { names: [APP], sizeBytes: 3 * GIB },
      { names: [1, 2, 3, 4, 5].map((digit) => `r.example/app@sha256:${digit}`), sizeBytes: 3 * GIB },
      { names: ['r.example/other:v1'], sizeBytes: GIB },
    ];
    const listing = (...listed: typeof images): NodeInfo => read({ status: { images: listed } });
    listing(...images);
    assert.equal(listedState(listing(...images.slice(1)).images, ['app:v2']), undefined);
    assert.equal(listedState(listing(...images.slice(2)).images, ['app:v2']), 'not-all');
  });

  it('is read from whatever a Node says', () => {
    const read = createNodeReader();
    assert.equal(read({ status: { images: [] } }).images, undefined);
    const odd = [{}, { names: null }, { names: [], sizeBytes: 5 }, { names: [APP], sizeBytes: 7 * GIB }];
    const images = odd as unknown as NonNullable<Node['status']>['images'];
    assert.equal(read({ status: { ...(images && { images }) } }).images?.listed.length, 4);
    assert.ok(
      listedState(read({ status: { images: [{ names: ['r.example/x:v1'] }] } }).images, ['app:v2']) !== 'not-all',
    );
    assert.ok(
      listedState(read({ status: { images: [{ names: [], sizeBytes: 5 }] } }).images, ['app:v2']) === 'not-all',
    );
  });

  it('shares what it has in common with those of other nodes, and keeps to the least size of a tag that moves', () => {
    const node = createFleet();
    const [first, second] = [node({ [APP]: 3 }), node({ [APP]: 3 })];
    assert.equal(first.images?.listed[0], second.images?.listed[0]);
    assert.equal(node({ [APP]: 4 }).images?.listed[0]?.bytes, 4 * GIB);
    assert.match(diskShortage(node({ 'r.example/big:v1': 8 }), ['app:v2']) ?? '', /the missing ones 3\.0 GiB/);
  });
});
