export { createPodCache, type PodCache, type PodCacheOptions } from './cache.ts';
export { sanitizePod } from './sanitize.ts';
