/**
 * A signal that aborts with the first of these. Unlike `AbortSignal.any`, whose signals Node keeps alive until they abort
 * together with everything that waits on them, this one can be collected as soon as nobody holds it.
 * Until the first abort it listens on each of them: for short work under a signal that lives long, take `linkedController`.
 */
export const anySignal = (...signals: readonly AbortSignal[]): AbortSignal => {
  const own = new AbortController();
  const check = (): void => {
    const aborted = signals.find((signal) => signal.aborted);
    if (!aborted) return;
    for (const signal of signals) signal.removeEventListener('abort', check);
    own.abort(aborted.reason);
  };
  for (const signal of signals) signal.addEventListener('abort', check, { once: true });
  check();
  return own.signal;
};

/**
 * A controller that aborts with the signal too, until `unlink` is called: for short work under a signal that lives long, on
 * which nothing may pile up.
 */
export const linkedController = (signal: AbortSignal): { controller: AbortController; unlink: () => void } => {
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return { controller, unlink: () => signal.removeEventListener('abort', onAbort) };
};

/** Resolves once the signal has aborted; immediately when it already has. */
export const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** Settles like `work`, or rejects with the signal's reason as soon as it aborts. The work itself continues. */
export const withSignal = async <T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
  if (signal === undefined) return work;
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    if (onAbort) signal.removeEventListener('abort', onAbort);
  }
};
