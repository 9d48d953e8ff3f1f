export { createPodCache, type PodCache, type PodCacheOptions } from './cache.ts';
