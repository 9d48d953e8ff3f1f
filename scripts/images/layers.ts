// Compressed layers. Compressing the base takes a minute, so its result is kept.

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';
import { blobOf, digestOf, type Layer, MEDIA } from './oci.ts';
import { type Entry, tarOf } from './tar.ts';

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** 35 MB for Node, where gzip needs 50. Decompressing is fast at every level and needs 8 MiB. */
const SMALLEST = 19;

const isArchive = async (compressed: Buffer, diffId: string): Promise<boolean> => {
  try {
    return digestOf(await decompress(compressed)) === diffId;
  } catch {
    return false;
  }
};

/** `cache`: a folder that keeps compressed layers. */
export const layerOf = async (
  entries: readonly Entry[],
  { cache, level = SMALLEST }: { cache?: string | undefined; level?: number | undefined } = {},
): Promise<Layer> => {
  const tar = tarOf(entries);
  const diffId = digestOf(tar);
  // Another version of the library may compress differently.
  const kept = cache && path.join(cache, `${diffId.replace(':', '-')}.${process.versions.zstd ?? ''}.${level}.tar.zst`);
  if (kept !== undefined && existsSync(kept)) {
    const compressed = readFileSync(kept);
    if (await isArchive(compressed, diffId)) return { diffId, blob: blobOf(MEDIA.zstdLayer, compressed) };
  }
  const compressed = await compress(tar, { params: { [constants.ZSTD_c_compressionLevel]: level } });
  if (kept !== undefined && cache !== undefined) {
    mkdirSync(cache, { recursive: true });
    writeFileSync(`${kept}.${process.pid}`, compressed);
    renameSync(`${kept}.${process.pid}`, kept);
  }
  return { diffId, blob: blobOf(MEDIA.zstdLayer, compressed) };
};
