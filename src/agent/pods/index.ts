export { createStateFile, type StateFile, type StateFiles } from '../storage/state-file.ts';
export { createPodCache, type PodCache, type PodCacheOptions } from './cache.ts';
export { sanitizePod } from './sanitize.ts';
