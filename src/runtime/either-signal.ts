/**
 * A signal that aborts with the first of these. As `AbortSignal.any`, but for one thing: node keeps such a signal, and all
 * that waits on it, until it aborts. This one goes with those who hold it.
 */
export const eitherSignal = (...signals: readonly AbortSignal[]): AbortSignal => {
  const own = new AbortController();
  const look = (): void => {
    const aborted = signals.find((signal) => signal.aborted);
    if (!aborted) return;
    for (const signal of signals) signal.removeEventListener('abort', look);
    own.abort(aborted.reason);
  };
  for (const signal of signals) signal.addEventListener('abort', look, { once: true });
  look();
  return own.signal;
};
