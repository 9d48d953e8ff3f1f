import type { StatsFs } from 'node:fs';
import { statfs } from 'node:fs/promises';
import path from 'node:path';

/** What must stay free so that a pull neither fills the device's disk nor makes the kubelet evict pods to gain space. */
export interface DiskMargin {
  bytes: number;
  /** Of the file system's size. */
  share: number;
}

const inMiB = (bytes: number): string => `${Math.floor(bytes / 1024 / 1024)} MiB`;

/**
 * The file system of `folder`, or of the nearest folder above it that is there: an agent in a container does not see the
 * runtime's folders, but its own root lies on the disk that holds the images.
 */
const fileSystemOf = async (folder: string): Promise<StatsFs | undefined> => {
  try {
    return await statfs(folder);
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    return missing && folder !== path.dirname(folder) ? fileSystemOf(path.dirname(folder)) : undefined;
  }
};

/** Why there is no room for another image on the disk of `folder`; undefined when there is, or when it cannot be known. */
export const whyNoRoom = async (folder: string, margin: DiskMargin): Promise<string | undefined> => {
  const found = await fileSystemOf(folder);
  if (!found || found.blocks === 0) return undefined;
  const free = found.bavail * found.bsize;
  const size = found.blocks * found.bsize;
  const needed = Math.max(margin.bytes, size * margin.share);
  if (free >= needed) return undefined;
  return (
    `only ${inMiB(free)} of ${inMiB(size)} are free on the disk that holds the images (${folder}), and ` +
    `${inMiB(needed)} must stay free: remove something from the device, then ask for the images again`
  );
};
