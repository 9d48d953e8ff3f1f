/**
 * What keeps the memory of a process that lives for months small: a new space of one size, and code that is compiled when
 * it is needed and no larger than it must be. A heap as small as this is collected sooner by one thread than by five that
 * wait for each other. `npm run bench -- advanced-real` measures memory and CPU.
 */
export const MANAGER_FLAGS = [
  '--min-semi-space-size=4',
  '--max-semi-space-size=4',
  '--single-threaded-gc',
  '--optimize-for-size',
] as const;
