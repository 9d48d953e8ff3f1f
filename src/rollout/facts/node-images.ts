import type { Node } from 'kubernetes-types/core/v1.d.ts';
import { fullImageName } from './image-name.ts';
import { parseQuantity } from './quantity.ts';

/** An image as the status of a Node lists it. */
export interface ListedImage {
  /** Its tags and digests. */
  readonly names: readonly string[];
  /** As the container runtime counts: containerd compressed, CRI-O on the disk. 0 if unknown. */
  readonly bytes: number;
}

interface KnownImage {
  /** As a Node last listed it. */
  image: ListedImage;
  /** The first node that listed it. */
  node: string;
  /** Another node has listed it as well. */
  confirmed: boolean;
  leastBytes: number;
}

/** Images by architecture, and by name, from all nodes that are read with it. */
export type KnownImages = Map<string, Map<string, KnownImage>>;

/** What the kubelet reports of the images on its node. */
export interface NodeImages {
  readonly node: string;
  /** Equal images of several nodes are one object. */
  readonly listed: readonly ListedImage[];
  /** What pods, with their images, may take of the disk, in bytes; absent if that is unknown. */
  readonly diskBytes?: number;
  /** The images of all nodes of its architecture. */
  readonly known: ReadonlyMap<string, KnownImage>;
}

/** A kubelet lists 50 unless it is configured to list more. */
const MAX_LISTED = 200;
/** A kubelet leaves out further names of an image, tags first. */
const MAX_NAMES = 5;
const MAX_KNOWN = 20_000;

const isSame = (a: ListedImage, names: readonly string[], bytes: number): boolean =>
  a.bytes === bytes && a.names.length === names.length && a.names.every((name, index) => name === names[index]);

const learn = (known: Map<string, KnownImage>, name: string, node: string, image: ListedImage): void => {
  const earlier = known.get(name);
  if (earlier) {
    earlier.image = image;
    earlier.confirmed ||= earlier.node !== node;
    earlier.leastBytes = Math.min(earlier.leastBytes, image.bytes);
  } else known.set(name, { image, node, confirmed: false, leastBytes: image.bytes });
};

/** Undefined for a node that lists no images. */
export const readNodeImages = ({ metadata, status }: Node, allKnown: KnownImages): NodeImages | undefined => {
  const images = (status?.images ?? []).slice(0, MAX_LISTED);
  if (images.length === 0) return undefined;
  const node = metadata?.name ?? '';
  const architecture = status?.nodeInfo?.architecture ?? '';
  const known = allKnown.get(architecture) ?? new Map<string, KnownImage>();
  allKnown.set(architecture, known);
  if (known.size > MAX_KNOWN) known.clear();
  const listed = images.map(({ names: given, sizeBytes: bytes = 0 }) => {
    const names = given ?? [];
    const earlier = known.get(names[0] ?? '');
    const isKnown = earlier !== undefined && isSame(earlier.image, names, bytes);
    // A heartbeat teaches nothing.
    if (isKnown && (earlier.confirmed || earlier.node === node)) return earlier.image;
    const image = isKnown ? earlier.image : { names, bytes };
    if (bytes > 0) for (const name of names) learn(known, name, node, image);
    return image;
  });
  const diskBytes = parseQuantity(status?.allocatable?.['ephemeral-storage']) / 1e9;
  return { node, listed, known, ...(diskBytes > 0 && { diskBytes }) };
};

const isListed = ({ listed }: NodeImages, name: string): boolean => listed.some(({ names }) => names.includes(name));

/**
 * The least that nodes of the same architecture list for the image; undefined if that is unknown. A single node may say of
 * itself what it likes: for others, two have to list it.
 */
const bytesOf = ({ node, known }: NodeImages, name: string): number | undefined => {
  const found = known.get(name);
  return found && (found.confirmed || found.node === node) ? found.leastBytes : undefined;
};

/**
 * Whether the list, which lacks the image, proves that the node does as well. A kubelet lists the largest images only, so an
 * image is absent if a smaller one is listed. One of unknown size, or a list that leaves out names, proves nothing.
 */
const isProvenAbsent = (images: NodeImages, name: string): boolean => {
  const bytes = bytesOf(images, name);
  if (bytes === undefined || images.listed.some(({ names }) => names.length >= MAX_NAMES)) return false;
  return images.listed.some((other) => other.bytes > 0 && other.bytes < bytes);
};

export type ListedState = 'all' | 'not-all';

/** What the node's list says of these images; undefined while it proves nothing. */
export const listedState = (images: NodeImages | undefined, wanted: readonly string[]): ListedState | undefined => {
  if (!images || wanted.length === 0) return undefined;
  const missing = wanted.map(fullImageName).filter((name) => !isListed(images, name));
  if (missing.length === 0) return 'all';
  return missing.some((name) => isProvenAbsent(images, name)) ? 'not-all' : undefined;
};

const gib = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GiB`;

/**
 * Why the node's disk is too full for these images too; undefined: nothing says so. What images take is a sum that counts
 * layers of two images twice, so the sizes count only while the images that are there fit. Unknown sizes count as nothing.
 */
export const diskShortage = (
  { conditions = [], images }: { conditions?: readonly string[]; images?: NodeImages },
  wanted: readonly string[],
): string | undefined => {
  if (conditions.includes('DiskPressure')) return 'the disk of the node is full: its condition DiskPressure is True';
  if (images?.diskBytes === undefined) return undefined;
  const { listed, diskBytes } = images;
  const missing = wanted.map(fullImageName).filter((name) => !isListed(images, name));
  const taken = listed.reduce((sum, { bytes }) => sum + bytes, 0);
  const more = missing.reduce((sum, name) => sum + (bytesOf(images, name) ?? 0), 0);
  if (taken > diskBytes || taken + more <= diskBytes) return undefined;
  return (
    `the disk of the node has no room: its images take ${gib(taken)}, the missing ones ${gib(more)}, ` +
    `of ${gib(diskBytes)} that it gives to pods`
  );
};
