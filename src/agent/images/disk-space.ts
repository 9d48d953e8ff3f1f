import type { StatsFs } from 'node:fs';
import { statfs } from 'node:fs/promises';
import path from 'node:path';
import { errnoOf } from '../errno.ts';

/** Space that must stay free, so that a pull neither fills the disk nor makes the kubelet evict pods. */
export interface DiskMargin {
  bytes: number;
  /** Fraction of the file system's size. */
  share: number;
}

const inMiB = (bytes: number): string => `${Math.floor(bytes / 1024 / 1024)} MiB`;

/**
 * The file system of `folder`, or of its nearest existing parent. An agent in a container can't see the runtime's folders,
 * but its own root file system is on the disk that holds the images.
 */
const fileSystemOf = async (folder: string): Promise<StatsFs | undefined> => {
  try {
    return await statfs(folder);
  } catch (error) {
    return errnoOf(error) === 'ENOENT' && folder !== path.dirname(folder)
      ? fileSystemOf(path.dirname(folder))
      : undefined;
  }
};

/** Why the disk of `folder` has no room for another image; undefined when it has, or when that is unknown. */
export const whyNoRoom = async (folder: string, margin: DiskMargin): Promise<string | undefined> => {
  const found = await fileSystemOf(folder);
  if (!found || found.blocks === 0) return undefined;
  const free = found.bavail * found.bsize;
  const size = found.blocks * found.bsize;
  const needed = Math.max(margin.bytes, size * margin.share);
  if (free >= needed) return undefined;
  return (
    `only ${inMiB(free)} of ${inMiB(size)} are free on the disk that holds the images (${folder}), and ` +
    `${inMiB(needed)} must stay free: free some space on the device, then request the images again`
  );
};
