import { statfs } from 'node:fs/promises';

/** What must stay free so that a pull neither fills the device's disk nor makes the kubelet evict pods to gain space. */
export interface DiskMargin {
  bytes: number;
  /** Of the file system's size. */
  share: number;
}

const inMiB = (bytes: number): string => `${Math.floor(bytes / 1024 / 1024)} MiB`;

/**
 * Why there is no room for another image on the file system of `folder`; undefined when there is, and when it cannot be
 * known because the folder is not mounted into the agent's container.
 */
export const whyNoRoom = async (folder: string, margin: DiskMargin): Promise<string | undefined> => {
  const found = await statfs(folder).catch(() => undefined);
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
