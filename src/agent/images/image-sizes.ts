import type { Env } from '../../runtime/index.ts';
import type { CriClient } from './cri/client.ts';

export interface ImageSizesOptions {
  env: Env;
  /** The container runtime's socket. Without one, no size is known. */
  criSocket: string | undefined;
}

/**
 * The sizes of images on this node, as the container runtime reports them: what containerd counts is compressed, as it was
 * downloaded; what CRI-O counts takes the place on the disk. Of an image that isn't there, nobody but its registry knows.
 */
export interface ImageSizes {
  /** The sum, each image counted once; null if one is unknown, or there is none. */
  of(images: readonly string[]): number | null;
  /** Asks for the sizes of these images, and forgets all others. Resolves to whether a size has changed; never rejects. */
  refresh(images: readonly string[], signal: AbortSignal): Promise<boolean>;
}

/** A pull may change what a tag stands for. */
const AGAIN_MS = 3_600_000;
/** The runtime does not answer, or does not have the image yet. */
const RETRY_MS = 30_000;

export const createImageSizes = ({ env, criSocket }: ImageSizesOptions): ImageSizes => {
  const known = new Map<string, number>();
  const nextAt = new Map<string, number>();
  let loaded: Promise<CriClient> | undefined;

  const ask = async (socket: string, image: string, signal: AbortSignal): Promise<boolean> => {
    nextAt.set(image, env.clock.now() + RETRY_MS);
    try {
      loaded ??= import('./cri/client.ts').then(({ createCriClient }) => createCriClient(socket, env.clock));
      const bytes = await (await loaded).imageBytes(image, signal);
      if (bytes === undefined || !nextAt.has(image)) return false;
      nextAt.set(image, env.clock.now() + AGAIN_MS);
      const before = known.get(image);
      known.set(image, bytes);
      return before !== bytes;
    } catch (error) {
      if (!signal.aborted) env.log.debug('failed to read the size of an image', { image, error });
      return false;
    }
  };

  return {
    of(images) {
      const sizes = [...new Set(images)].map((image) => known.get(image));
      if (sizes.length === 0) return null;
      return sizes.reduce<number | null>((sum, size) => (sum === null || size === undefined ? null : sum + size), 0);
    },
    async refresh(images, signal) {
      if (criSocket === undefined || signal.aborted) return false;
      const wanted = new Set(images);
      for (const image of nextAt.keys()) {
        if (wanted.has(image)) continue;
        nextAt.delete(image);
        known.delete(image);
      }
      const due = [...wanted].filter((image) => (nextAt.get(image) ?? 0) <= env.clock.now());
      const changes = await Promise.all(due.map((image) => ask(criSocket, image, signal)));
      return changes.includes(true);
    },
  };
};
