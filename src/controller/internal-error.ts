import type { CacheFailure } from '../kube/index.ts';
import { errorText } from '../runtime/index.ts';

/** Conditions and Events have room for so much of an error. */
const MOST_CHARACTERS = 300;

/**
 * The manager cannot compute something about a DaemonSet. Nothing may be decided then: what cannot be computed could be the
 * rule that forbids it. `about`: the object, as `Node edge-7`.
 */
export class InternalError extends Error {
  readonly code = 'InternalError';
  readonly about: string;
  constructor(about: string, cause: unknown) {
    super(`The manager cannot process ${about}: ${errorText(cause).slice(0, MOST_CHARACTERS)}`, { cause });
    this.name = 'InternalError';
    this.about = about;
  }
}

/** The first of these failures of a cache of objects of this kind; undefined without any. */
export const firstFailure = (
  kind: string,
  failures: readonly CacheFailure[],
  concerns: (failure: CacheFailure) => boolean = () => true,
): InternalError | undefined => {
  const first = failures.find(concerns);
  return first && new InternalError(`${kind} ${first.key}`.trim(), first.error);
};
