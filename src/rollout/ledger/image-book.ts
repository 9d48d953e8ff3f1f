import { type AskTurn, askTurns } from '../record/images.ts';
import type { NodeRecord } from '../record/record.ts';
import { createTurns } from './candidates.ts';

/** Who was asked before, and in vain, comes after those that were not. */
const timeOf = ({ node, pods, asking }: NodeRecord): number =>
  Math.max(node?.readyChangedAt ?? 0, asking?.at ?? 0, ...pods.map(({ facts }) => facts.images?.at ?? 0));

/** Records by what is to be done about their images. */
export const createImageBook = () => {
  const queues = askTurns.map(() => createTurns());
  const misasking = new Set<NodeRecord>();
  const failing = new Set<NodeRecord>();
  return {
    enter(record: NodeRecord): void {
      const { ask, unask, images } = record.view;
      if (ask !== undefined) queues[ask]?.add(record, timeOf(record));
      if (unask) misasking.add(record);
      if (images === 'failed') failing.add(record);
    },
    leave(record: NodeRecord): void {
      for (const queue of queues) queue.remove(record);
      misasking.delete(record);
      failing.delete(record);
    },
    known: {
      /** Whose images of the target may be asked for in this turn, the longest Ready node first. */
      toAsk: (turn: AskTurn): Iterable<NodeRecord> => queues[turn]?.inOrder() ?? [],
      /** Whose pod asks for images that are not wanted any more. */
      misasking: (): ReadonlySet<NodeRecord> => misasking,
      /** Whose images of the target cannot be pulled as yet. */
      failing: (): ReadonlySet<NodeRecord> => failing,
    },
  };
};
