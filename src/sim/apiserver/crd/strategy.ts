import type { Strategy } from '../kinds/strategy.ts';
import { at, type Json, recordOf, withPath } from '../value/index.ts';

/** Custom resources: their schema says what they may hold, and how it is filled in. */
export const customStrategy = (schema: Json, hasStatus: boolean): Strategy => {
  void schema;
  const withStatusOf = (object: Json, previous: Json | undefined): Json =>
    hasStatus ? withPath(object, ['status'], previous?.status) : object;
  return {
    generation: true,
    unconditionalUpdate: false,
    prepareCreate: (object) => withStatusOf(object, undefined),
    prepareUpdate: (object, previous) => withStatusOf(object, previous),
    subresources: hasStatus
      ? {
          // Only the status is taken: metadata stays, but for what the write itself brings.
          status: (previous, sent) =>
            withPath(
              {
                ...previous,
                metadata: { ...recordOf(previous.metadata), managedFields: at(sent, 'metadata', 'managedFields') },
              },
              ['status'],
              sent.status,
            ),
        }
      : {},
  };
};
