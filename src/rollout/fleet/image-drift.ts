import type { ImageReport } from '../facts/image-reports.ts';
import type { NodeRecord } from '../node/record.ts';

/** An image of the target of which nodes report different IDs. */
export interface DriftingImage {
  image: string;
  /** Of these nodes: the digest of a multi-architecture image may differ between architectures. Empty: they have no such label. */
  arch: string;
  /** The digest that most nodes report first. */
  ids: readonly { digest: string; nodes: number }[];
}

/** Nodes whose digests of one image can be compared. */
interface Group {
  image: string;
  arch: string;
  /** Number of nodes by digest. */
  nodes: Map<string, number>;
}

/** Counts what nodes at the target report of their images, and finds those that differ without looking at all nodes. */
export const createImageDrift = () => {
  const groups = new Map<string, Group>();
  const drifting = new Set<Group>();

  const count = ({ image, source, digest }: ImageReport, arch: string, by: 1 | -1): void => {
    const key = `${arch}\n${source}\n${image}`;
    const group = groups.get(key) ?? { image, arch, nodes: new Map<string, number>() };
    const nodes = (group.nodes.get(digest) ?? 0) + by;
    if (nodes > 0) group.nodes.set(digest, nodes);
    else group.nodes.delete(digest);
    if (group.nodes.size > 0) groups.set(key, group);
    else groups.delete(key);
    if (group.nodes.size > 1) drifting.add(group);
    else drifting.delete(group);
  };

  const countAll = ({ status, node }: NodeRecord, by: 1 | -1): void => {
    for (const report of status.imageReports) count(report, node?.arch ?? '', by);
  };

  return {
    add: (record: NodeRecord): void => countAll(record, 1),
    remove: (record: NodeRecord): void => countAll(record, -1),
    /** Those among `images` that differ, by name and architecture. */
    of(images: readonly string[]): DriftingImage[] {
      return [...drifting]
        .filter(({ image }) => images.includes(image))
        .map(({ image, arch, nodes }) => ({
          image,
          arch,
          ids: Array.from(nodes, ([digest, number]) => ({ digest, nodes: number })).toSorted(
            (a, b) => b.nodes - a.nodes || (a.digest < b.digest ? -1 : 1),
          ),
        }))
        .toSorted((a, b) => (`${a.image} ${a.arch}` < `${b.image} ${b.arch}` ? -1 : 1));
    },
  };
};
