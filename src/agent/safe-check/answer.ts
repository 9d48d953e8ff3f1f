import type { DaemonSetRef } from '../types.ts';

/** What the device's own check says: whether an update may disturb the device now. */
export interface SafeAnswer {
  safe: boolean;
  /** One line for people. */
  message: string;
}

/** The update that the check is asked about. */
export type SafeQuestion = DaemonSetRef & { revision: string };

export const STOPPING: SafeAnswer = { safe: false, message: 'The agent is stopping.' };

export const timedOut = (timeoutMs: number): SafeAnswer => ({
  safe: false,
  message: `The check did not answer within ${timeoutMs / 1000} s.`,
});

/** Only this many bytes of a check's output are read. */
export const OUTPUT_LIMIT = 4096;
const LONGEST_MESSAGE = 200;

/** The first line with text, without control and formatting characters. */
export const firstLine = (output: Buffer): string => {
  const line = output
    .toString('utf8')
    .split(/[\r\n]/)
    .find((text) => text.trim() !== '');
  return (line ?? '')
    .replaceAll(/[\p{Cc}\p{Cf}\uFFFD]/gu, '')
    .trim()
    .slice(0, LONGEST_MESSAGE);
};
