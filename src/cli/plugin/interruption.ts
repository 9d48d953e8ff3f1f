/** A signal that aborts on Ctrl-C or SIGTERM; `done` takes the handlers away again. */
export const interruption = (): { signal: AbortSignal; done: () => void } => {
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  return {
    signal: controller.signal,
    done: () => {
      process.off('SIGINT', stop);
      process.off('SIGTERM', stop);
    },
  };
};
