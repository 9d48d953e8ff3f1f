import { type RequestPriority, requestPriorities } from '../record/images.ts';
import type { NodeRecord } from '../record/record.ts';
import { createTimeQueue } from './candidates.ts';

/** Who was asked before, and in vain, comes after those that were not. */
const timeOf = ({ node, pods, imageRequest }: NodeRecord): number =>
  Math.max(node?.readyChangedAt ?? 0, imageRequest?.at ?? 0, ...pods.map(({ facts }) => facts.images?.at ?? 0));

/** Records by what is to be done about their images. */
export const createImageIndex = () => {
  const queues = requestPriorities.map(() => createTimeQueue());
  const stale = new Set<NodeRecord>();
  const failing = new Set<NodeRecord>();
  return {
    enter(record: NodeRecord): void {
      const { imageRequestPriority, imageRequestStale, images } = record.status;
      if (imageRequestPriority !== undefined) queues[imageRequestPriority]?.add(record, timeOf(record));
      if (imageRequestStale) stale.add(record);
      if (images === 'failed') failing.add(record);
    },
    leave(record: NodeRecord): void {
      for (const queue of queues) queue.remove(record);
      stale.delete(record);
      failing.delete(record);
    },
    known: {
      /** Whose images of the target may be asked for in this turn, the longest Ready node first. */
      toRequest: (turn: RequestPriority): Iterable<NodeRecord> => queues[turn]?.inOrder() ?? [],
      /** Whose pod asks for images that are not wanted any more. */
      misasking: (): ReadonlySet<NodeRecord> => stale,
      /** Whose images of the target cannot be pulled as yet. */
      failing: (): ReadonlySet<NodeRecord> => failing,
    },
  };
};
