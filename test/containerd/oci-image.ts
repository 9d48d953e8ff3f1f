import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';

export interface Blob {
  digest: string;
  mediaType: string;
  bytes: Buffer;
}

/** An image as it lies in a registry. */
export interface OciImage {
  manifest: Blob;
  config: Blob;
  layers: readonly Blob[];
}

const digestOf = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

const blob = (mediaType: string, bytes: Buffer): Blob => ({ digest: digestOf(bytes), mediaType, bytes });

const describe = ({ mediaType, digest, bytes }: Blob) => ({ mediaType, digest, size: bytes.length });

const TAR_BLOCK = 512;

/** A tar archive of one executable file. */
const tarOf = (name: string, content: Buffer): Buffer => {
  const header = Buffer.alloc(TAR_BLOCK);
  const put = (offset: number, text: string): void => void header.write(text, offset, 'ascii');
  put(0, name);
  put(100, '0000755\0');
  put(108, '0000000\0');
  put(116, '0000000\0');
  put(124, `${content.length.toString(8).padStart(11, '0')}\0`);
  put(136, '00000000000\0');
  put(148, '        ');
  put(156, '0');
  put(257, 'ustar\u000000');
  const sum = header.reduce((total, byte) => total + byte, 0);
  put(148, `${sum.toString(8).padStart(6, '0')}\0 `);
  const padding = Buffer.alloc((TAR_BLOCK - (content.length % TAR_BLOCK)) % TAR_BLOCK);
  return Buffer.concat([header, content, padding, Buffer.alloc(2 * TAR_BLOCK)]);
};

export interface Layer {
  diffId: string;
  blob: Blob;
}

/** A layer that holds one file. */
export const layer = (name: string, content: Buffer): Layer => {
  const tar = tarOf(name, content);
  return { diffId: digestOf(tar), blob: blob('application/vnd.oci.image.layer.v1.tar+gzip', gzipSync(tar)) };
};

/** An image of these layers and nothing else: no shell, and without a layer not even a file. */
export const image = (name: string, layers: readonly Layer[]): OciImage => {
  const json = (mediaType: string, value: object): Blob => blob(mediaType, Buffer.from(JSON.stringify(value)));
  const config = json('application/vnd.oci.image.config.v1+json', {
    architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
    os: 'linux',
    config: { Entrypoint: ['/app'], Labels: { name } },
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
  });
  const manifest = json('application/vnd.oci.image.manifest.v1+json', {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: describe(config),
    layers: layers.map((each) => describe(each.blob)),
  });
  return { manifest, config, layers: layers.map((each) => each.blob) };
};
