export { createPodCache, type PodCache, type PodCacheOptions } from './cache.ts';
export { unreadableReason } from './unreadable.ts';
