import type { CacheFailure } from '../kube/index.ts';
import { errorText, type Logger } from '../runtime/index.ts';

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

export interface FailureGuardOptions {
  log: Logger;
  /** Called once, at the first exception. */
  onFailed: () => void;
  /** What failed has changed: another try may succeed. */
  retry: () => void;
}

/**
 * Guards the entrances of one reconciler, so that an exception about one DaemonSet disturbs no other. What an exception left
 * half done is not known: from the first one on nothing is let in, and another reconciler has to take the place of this one.
 */
export const createFailureGuard = ({ log, onFailed, retry }: FailureGuardOptions) => {
  let failure: InternalError | undefined;
  let isReported = false;

  const fail = (about: string, error: unknown): void => {
    if (failure) return;
    failure = new InternalError(about, error);
    const stack = error instanceof Error ? error.stack : undefined;
    log.error('internal error: nothing of the DaemonSet is updated until it is gone', { about, error, stack });
    onFailed();
  };

  const guard = (about: string, call: () => void): void => {
    if (failure) {
      if (failure.about === about) retry();
      return;
    }
    try {
      call();
    } catch (error) {
      fail(about, error);
    }
  };

  return {
    failure: (): InternalError | undefined => failure,
    fail,
    guard,
    /** People were told, as far as the API server let us, or need not be: another reconciler may take the place of this one. */
    reported(): void {
      isReported = failure !== undefined;
    },
    isReported: (): boolean => isReported,
  };
};
