/**
 * Reads of the DaemonSet that must come before the next decision, each into its cache. An earlier leader may have acted on a
 * template, a budget or a pause that the watch of this process, asleep or cut off, has not delivered, and nothing refuses
 * an update of a pod for a changed DaemonSet. A write that is refused because the DaemonSet has changed says that the watch
 * is behind as well.
 */
export const createCatchUp = (readIntoCache: (signal: AbortSignal) => Promise<void>) => {
  let isDue = true;
  /** The version of the DaemonSet that a write was refused for. */
  let refused: string | undefined;
  return {
    isDue: (): boolean => isDue,
    /** A term of leadership begins. */
    begin(): void {
      isDue = true;
    },
    /** A write on this version was refused. */
    refuse: (resourceVersion: string): void => {
      isDue = true;
      refused = resourceVersion;
    },
    /** Another write on this version would be refused. */
    isRefused: (resourceVersion: string): boolean => refused === resourceVersion,
    async run(signal: AbortSignal): Promise<void> {
      if (!isDue) return;
      isDue = false;
      try {
        await readIntoCache(signal);
      } catch (error) {
        isDue = true;
        throw error;
      }
      // What was read may say that the DaemonSet is no longer managed.
      signal.throwIfAborted();
    },
  };
};
