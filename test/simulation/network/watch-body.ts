/** The body of a watch: lines that arrive one by one. */
export interface WatchBody {
  push(line: string): void;
  /** With an error: the connection broke; without one: the server ended it. */
  finish(error?: Error): void;
  readonly body: AsyncGenerator<Uint8Array, void, undefined>;
}

/** `onClosed` is called once, when the reader is done with it. */
export const createWatchBody = (onClosed: () => void): WatchBody => {
  let lines: string[] = [];
  let ended: { error: Error | undefined } | undefined;
  let wake: (() => void) | undefined;
  const stir = (): void => {
    wake?.();
    wake = undefined;
  };

  async function* read(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for (;;) {
        if (lines.length > 0) {
          const text = lines.join('');
          lines = [];
          yield Buffer.from(text);
          continue;
        }
        if (ended?.error) throw ended.error;
        if (ended) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      onClosed();
    }
  }
  return {
    push(line) {
      lines.push(line);
      stir();
    },
    finish(error) {
      ended ??= { error };
      stir();
    },
    body: read(),
  };
};

export const isBookmark = (line: string): boolean => line.startsWith('{"type":"BOOKMARK"');
export const endsInitialEvents = (line: string): boolean =>
  isBookmark(line) && line.includes('"k8s.io/initial-events-end":"true"');

export const bookmarkLine = (resourceVersion: string): string =>
  `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"${resourceVersion}","annotations":{"k8s.io/initial-events-end":"true"}}}}\n`;
