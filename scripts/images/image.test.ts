import assert from 'node:assert/strict';
import { it } from 'node:test';
import { checkSize, sizeOf } from './image.ts';
import { blobOf, digestOf, imageOf, type Layer, MEDIA } from './oci.ts';

const layerOfBytes = (bytes: Buffer): Layer => ({ diffId: digestOf(bytes), blob: blobOf(MEDIA.zstdLayer, bytes) });

it('fails from 60 MB on, compressed, and says where to look', () => {
  const image = imageOf({
    architecture: 'amd64',
    config: {},
    layers: [layerOfBytes(Buffer.alloc(2_000_000)), layerOfBytes(Buffer.from('program'))],
  });
  assert.equal(sizeOf(image), 2_000_007);
  checkSize('image.tar', 59_999_999);
  assert.throws(() => checkSize('image.tar', 60_000_000), /^Error: image\.tar has 60\.0 MB compressed, .*--report/);
});
