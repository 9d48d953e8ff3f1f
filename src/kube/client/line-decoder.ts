import { KubeError } from './errors.ts';

/** Splits a byte stream into lines, independent of its chunk boundaries. */
export interface LineDecoder {
  /** The lines that this chunk completes, without newlines. Throws `Malformed` on invalid UTF-8 or a line that is too long. */
  push(chunk: Uint8Array): string[];
  /** Bytes of the incomplete line. */
  readonly pendingBytes: number;
}

const NEWLINE = 0x0a;

export const createLineDecoder = (maxLineBytes: number): LineDecoder => {
  // Newline bytes never occur inside a UTF-8 sequence, so splitting first and decoding whole lines is safe.
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;

  const hold = (part: Uint8Array): void => {
    if (part.length === 0) return;
    pendingBytes += part.length;
    if (pendingBytes > maxLineBytes)
      throw new KubeError('Malformed', `the server sent a line of more than ${maxLineBytes} bytes`);
    pending.push(part);
  };

  const takeLine = (): string => {
    const [first] = pending;
    const whole = pending.length === 1 && first ? first : Buffer.concat(pending, pendingBytes);
    pending = [];
    pendingBytes = 0;
    try {
      return utf8.decode(whole);
    } catch (cause) {
      throw new KubeError('Malformed', 'the server sent a line that is not UTF-8', { cause });
    }
  };

  return {
    push(chunk) {
      const lines: string[] = [];
      let start = 0;
      for (;;) {
        const end = chunk.indexOf(NEWLINE, start);
        if (end < 0) break;
        hold(chunk.subarray(start, end));
        lines.push(takeLine());
        start = end + 1;
      }
      // Copied: a view would keep the whole network chunk alive until the line is complete.
      if (start < chunk.length) hold(start === 0 ? chunk : Uint8Array.prototype.slice.call(chunk, start));
      return lines;
    },
    get pendingBytes() {
      return pendingBytes;
    },
  };
};
