/** A breach of a house rule, at a place that an editor can jump to. */
export interface Violation {
  file: string;
  line: number;
  /** What is there and what to do instead, on one line. */
  message: string;
}

/** Prints one line a violation; the process then exits with 1 if there was any. */
export const reportViolations = (violations: readonly Violation[]): void => {
  for (const { file, line, message } of violations) console.error(`${file}:${line}: ${message}`);
  if (violations.length > 0) process.exitCode = 1;
};
