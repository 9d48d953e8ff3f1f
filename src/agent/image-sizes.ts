import type { Node } from 'kubernetes-types/core/v1.d.ts';
import { isKubeError, type KubeClient, nodes } from '../kube/index.ts';
import { fullImageName } from '../rollout/index.ts';
import { backoffMs, type Env } from '../runtime/index.ts';

export interface ImageSizesOptions {
  client: Pick<KubeClient, 'get'>;
  env: Env;
  node: string;
  connected: () => boolean;
  /** The images that are on this node. */
  wanted: () => readonly string[];
  /** A size has changed. */
  onChange: () => void;
  /** Aborts when the agent stops. */
  signal: AbortSignal;
}

/**
 * The sizes of images on this node, as the kubelet reports them in the Node's status: containerd counts compressed bytes,
 * CRI-O the place on the disk. A kubelet names 50 images, the largest first, unless it is configured to name others.
 */
export interface ImageSizes {
  /** The sum, each image counted once; null if one is unknown, or there is none. */
  of(images: readonly string[]): number | null;
  /** Call it when the wanted images or the connection may have changed. */
  refresh(): void;
}

/** The kubelet reports a new image within a minute; one that it does not name costs less and less. */
const RETRY = { baseMs: 60_000, maxMs: 3_600_000 };
/** A pull may change what a tag stands for. */
const AGAIN_MS = 3_600_000;

const sizesOf = ({ status }: Node): Map<string, number> =>
  new Map((status?.images ?? []).flatMap(({ names, sizeBytes = 0 }) => (names ?? []).map((name) => [name, sizeBytes])));

export const createImageSizes = (options: ImageSizesOptions): ImageSizes => {
  const { client, env, node, connected, wanted, onChange, signal } = options;
  let bytes = new Map<string, number>();
  /** The images that the last read was for; undefined if it failed. */
  let readFor: string | undefined;
  let misses = 0;
  let reading = false;
  let timer: ReturnType<typeof env.clock.timer> | undefined;

  const read = async (): Promise<void> => {
    const images = wanted().map(fullImageName);
    try {
      const found = sizesOf(await client.get(nodes, { name: node }, { signal }));
      const changed = images.some((image) => bytes.get(image) !== found.get(image));
      bytes = found;
      misses = images.every((image) => bytes.has(image)) ? 0 : misses + 1;
      if (changed) onChange();
    } catch (error) {
      if (signal.aborted) return;
      env.log.debug('failed to read the sizes of images', { error });
      misses += 1;
      // The next change of the connection tries again.
      if (!isKubeError(error) || error.status === 0) readFor = undefined;
    }
    timer = env.clock.timer(misses === 0 ? AGAIN_MS : backoffMs(misses, RETRY), () => {
      readFor = undefined;
      refresh();
    });
  };

  const refresh = (): void => {
    const images = [...new Set(wanted())].toSorted().join(' ');
    if (reading || signal.aborted || images === '' || images === readFor || !connected()) return;
    if (readFor !== undefined) misses = 0;
    readFor = images;
    timer?.cancel();
    reading = true;
    void read().finally(() => {
      reading = false;
    });
  };

  return {
    of(images) {
      const sizes = [...new Set(images)].map((image) => bytes.get(fullImageName(image)));
      if (sizes.length === 0) return null;
      return sizes.reduce<number | null>((sum, size) => (sum === null || size === undefined ? null : sum + size), 0);
    },
    refresh,
  };
};
