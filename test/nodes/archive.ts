import { digestOf, MEDIA } from '../../scripts/images/oci.ts';
import { readMember } from '../../scripts/images/tar.ts';
import type { OciImage } from '../containerd/index.ts';

interface Described {
  mediaType: string;
  digest: string;
}

/** The image in an archive that `npm run build:images` wrote. */
export const readArchive = (file: string): OciImage => {
  const blob = ({ mediaType, digest }: Described) => {
    const bytes = readMember(file, `blobs/${digest.replace(':', '/')}`);
    if (digestOf(bytes) !== digest) throw new Error(`${file}: the blob ${digest} has another digest`);
    return { mediaType, digest, bytes };
  };
  const { manifests } = JSON.parse(readMember(file, 'index.json').toString()) as { manifests: Described[] };
  const [entry] = manifests;
  if (!entry || entry.mediaType !== MEDIA.manifest) throw new Error(`${file} does not hold one image`);
  const manifest = blob(entry);
  const { config, layers } = JSON.parse(manifest.bytes.toString()) as { config: Described; layers: Described[] };
  return { manifest, config: blob(config), layers: layers.map(blob) };
};
