/**
 * What keeps the memory of a process that lives for months small: a small new space, and code that is compiled when it is
 * needed and no larger than it must be. It costs no CPU that could be measured; `npm run bench -- advanced-real` does both.
 */
export const MANAGER_FLAGS = ['--max-semi-space-size=2', '--optimize-for-size'] as const;
