import type { Node } from 'kubernetes-types/core/v1.d.ts';
import { isKubeError, type KubeClient, nodes } from '../kube/index.ts';
import { fullImageName } from '../rollout/index.ts';
import { backoffMs, type Env } from '../runtime/index.ts';
import { ownKey } from '../words/index.ts';
import { shownText } from './shown-text.ts';
import { createStateFile, type StateFiles } from './storage/index.ts';

/** What administrators write on a Node for its owner; null for nothing. */
export interface NodeNames {
  displayName: string | null;
  administrator: string | null;
}

export interface OwnNodeOptions {
  client: Pick<KubeClient, 'get'>;
  env: Env;
  node: string;
  /** False: the agent has no right to read it, so nothing is known. */
  enabled: boolean;
  dir: string;
  /** Default: the machine's file system. */
  files?: StateFiles | undefined;
  connected: () => boolean;
  /** The images that are on this node. */
  wanted: () => readonly string[];
  /** A size or a name has changed. */
  onChange: () => void;
  /** Aborts when the agent stops. */
  signal: AbortSignal;
}

/**
 * The agent's own Node: the names that administrators give it, also offline, and the sizes of images, as the kubelet reports
 * them in the status: containerd counts compressed bytes, CRI-O the place on the disk. A kubelet names 50 images, the largest
 * first, unless it is configured to name others.
 */
export interface OwnNode {
  names(): NodeNames;
  sizes: {
    /** The sum, each image counted once; null if one is unknown, or there is none. */
    of(images: readonly string[]): number | null;
  };
  /** Call it when the wanted images or the connection may have changed. */
  refresh(): void;
  /** Writes what was read; call it at the end. */
  flush(): Promise<void>;
}

/** The kubelet reports a new image within a minute; one that it does not name costs less and less. */
const RETRY = { baseMs: 60_000, maxMs: 3_600_000 };
/** A pull may change what a tag stands for, and an administrator a name. */
const AGAIN_MS = 3_600_000;

export const LONGEST_NAME = 64;
export const LONGEST_ADMINISTRATOR = 128;

const NO_NAMES: NodeNames = { displayName: null, administrator: null };

const namesOf = ({ metadata }: Node): NodeNames => ({
  displayName: shownText(metadata?.annotations?.[ownKey.displayName], LONGEST_NAME),
  administrator: shownText(metadata?.annotations?.[ownKey.administrator], LONGEST_ADMINISTRATOR),
});

const sizesOf = ({ status }: Node): Map<string, number> =>
  new Map((status?.images ?? []).flatMap(({ names, sizeBytes = 0 }) => (names ?? []).map((name) => [name, sizeBytes])));

/** A file with another format was written by another version of the agent and is ignored. */
const FORMAT = 1;

interface Saved extends NodeNames {
  format: typeof FORMAT;
  node: string;
}

const parseSaved = (value: unknown): Saved | undefined => {
  const { format, node, displayName, administrator } = (value ?? {}) as Partial<Saved>;
  if (format !== FORMAT || typeof node !== 'string') return undefined;
  // The file is the agent's own, but another program may have changed it: bound what is shown.
  return {
    format,
    node,
    displayName: shownText(displayName ?? undefined, LONGEST_NAME),
    administrator: shownText(administrator ?? undefined, LONGEST_ADMINISTRATOR),
  };
};

export const createOwnNode = (options: OwnNodeOptions): OwnNode => {
  const { client, env, node, enabled, dir, files, connected, wanted, onChange, signal } = options;
  const file = enabled
    ? createStateFile<Saved>({ dir, name: 'node.json', env, parse: parseSaved, ...(files && { files }) })
    : undefined;
  const saved = file?.initial;
  // The folder may have come from another device.
  let names: NodeNames = saved?.node === node ? saved : NO_NAMES;
  let bytes = new Map<string, number>();
  /** The images that the last read was for; undefined if it failed. */
  let readFor: string | undefined;
  let misses = 0;
  let reading = false;
  let timer: ReturnType<typeof env.clock.timer> | undefined;

  const isNamed = ({ displayName, administrator }: NodeNames): boolean =>
    displayName === names.displayName && administrator === names.administrator;

  const read = async (): Promise<void> => {
    const images = wanted().map(fullImageName);
    try {
      const found = await client.get(nodes, { name: node }, { signal });
      const sizes = sizesOf(found);
      const named = namesOf(found);
      const changed = !isNamed(named) || images.some((image) => bytes.get(image) !== sizes.get(image));
      if (!isNamed(named)) file?.save(() => ({ format: FORMAT, node, ...names }));
      bytes = sizes;
      names = named;
      misses = images.every((image) => bytes.has(image)) ? 0 : misses + 1;
      if (changed) onChange();
    } catch (error) {
      if (signal.aborted) return;
      env.log.debug('failed to read the Node', { error });
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
    if (!enabled || reading || signal.aborted || images === readFor || !connected()) return;
    if (readFor !== undefined) misses = 0;
    readFor = images;
    timer?.cancel();
    reading = true;
    void read().finally(() => {
      reading = false;
    });
  };

  return {
    names: () => ({ displayName: names.displayName, administrator: names.administrator }),
    sizes: {
      of(images) {
        const sizes = [...new Set(images)].map((image) => bytes.get(fullImageName(image)));
        if (sizes.length === 0) return null;
        return sizes.reduce<number | null>((sum, size) => (sum === null || size === undefined ? null : sum + size), 0);
      },
    },
    refresh,
    flush: async () => file?.flush(),
  };
};
