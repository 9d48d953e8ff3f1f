export { createPodCache, type PodCache, type PodCacheOptions } from './cache.ts';
export { sanitizePod } from './sanitize.ts';
export { createStateFile, type StateFile, type StateFiles } from './state-file.ts';
