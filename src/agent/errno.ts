/** The errno name of a system error, such as `ENOENT`; undefined for any other error. */
export const errnoOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
