// Images in the formats of the Open Container Initiative (image-spec 1.1).

import { createHash } from 'node:crypto';
import { type Entry, readMember, tarOf } from './tar.ts';

export interface Blob {
  digest: string;
  mediaType: string;
  bytes: Buffer;
}

export interface Layer {
  /** The digest of the uncompressed archive. */
  diffId: string;
  blob: Blob;
}

/** An image as it lies in a registry. */
export interface OciImage {
  manifest: Blob;
  config: Blob;
  layers: readonly Blob[];
}

export interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
  platform?: { architecture: string; os: string };
  annotations?: Readonly<Record<string, string>>;
}

export const MEDIA = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  zstdLayer: 'application/vnd.oci.image.layer.v1.tar+zstd',
  gzipLayer: 'application/vnd.oci.image.layer.v1.tar+gzip',
} as const;

export const digestOf = (bytes: Uint8Array): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

export const blobOf = (mediaType: string, bytes: Buffer): Blob => ({ digest: digestOf(bytes), mediaType, bytes });

export const jsonBlob = (mediaType: string, value: object): Blob =>
  blobOf(mediaType, Buffer.from(JSON.stringify(value)));

export const descriptorOf = ({ mediaType, digest, bytes }: Blob): Descriptor => ({
  mediaType,
  digest,
  size: bytes.length,
});

export interface ImageOptions {
  architecture: string;
  /** What a runtime uses: `Entrypoint`, `User` and the like. */
  config: object;
  layers: readonly Layer[];
  /** RFC 3339. */
  created?: string;
  /** One entry for each layer. */
  history?: readonly object[];
  annotations?: Readonly<Record<string, string>>;
}

export const imageOf = ({ architecture, config, layers, created, history, annotations }: ImageOptions): OciImage => {
  const configBlob = jsonBlob(MEDIA.config, {
    ...(created !== undefined && { created }),
    architecture,
    os: 'linux',
    config,
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    ...(history && { history }),
  });
  const manifest = jsonBlob(MEDIA.manifest, {
    schemaVersion: 2,
    mediaType: MEDIA.manifest,
    config: descriptorOf(configBlob),
    layers: layers.map(({ blob }) => descriptorOf(blob)),
    ...(annotations && { annotations }),
  });
  return { manifest, config: configBlob, layers: layers.map(({ blob }) => blob) };
};

const blobPath = (digest: string): string => `blobs/${digest.replace(':', '/')}`;

const fileOf = (path: string, content: Buffer): Entry => ({ kind: 'file', path, mode: 0o644, content });

/** The one image, or index of images, of an archive that `archiveOf` made. */
export const readArchive = (archive: string): { reference: string; digest: string } => {
  const { manifests } = JSON.parse(readMember(archive, 'index.json').toString()) as { manifests: Descriptor[] };
  const [entry] = manifests;
  const { 'io.containerd.image.name': reference } = entry?.annotations ?? {};
  if (!entry || reference === undefined) throw new Error('index.json of the archive names no image: build it again');
  // The index names the blob, and the blob's own bytes must agree.
  const digest = digestOf(readMember(archive, blobPath(entry.digest)));
  if (digest !== entry.digest) throw new Error(`the archive holds ${digest} as ${entry.digest}: build it again`);
  return { reference, digest };
};

/** An image layout as a tar archive, which `ctr images import`, podman and skopeo read. */
export const archiveOf = (manifests: readonly Descriptor[], blobs: readonly Blob[]): Buffer => {
  const unique = new Map(blobs.map((blob) => [blob.digest, blob]));
  const index = { schemaVersion: 2, mediaType: MEDIA.index, manifests };
  return tarOf([
    fileOf('oci-layout', Buffer.from(JSON.stringify({ imageLayoutVersion: '1.0.0' }))),
    fileOf('index.json', Buffer.from(JSON.stringify(index))),
    ...unique.values().map(({ digest, bytes }) => fileOf(blobPath(digest), bytes)),
  ]);
};
