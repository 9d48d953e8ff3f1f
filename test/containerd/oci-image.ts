import { gzipSync } from 'node:zlib';
import { blobOf, digestOf, imageOf, type Layer, MEDIA, type OciImage } from '../../scripts/images/oci.ts';
import { tarOf } from '../../scripts/images/tar.ts';

export type { Blob, Layer, OciImage } from '../../scripts/images/oci.ts';

/** A layer that holds one executable file. */
export const layer = (name: string, content: Buffer): Layer => {
  const tar = tarOf([{ kind: 'file', path: name, mode: 0o755, content }]);
  return { diffId: digestOf(tar), blob: blobOf(MEDIA.gzipLayer, gzipSync(tar)) };
};

/** An image of these layers and nothing else: no shell, and without a layer not even a file. */
export const image = (name: string, layers: readonly Layer[], entrypoint: readonly string[] = ['/app']): OciImage =>
  imageOf({
    architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
    config: { Entrypoint: entrypoint, Labels: { name } },
    layers,
  });
