export { createPodCache, type PodCache } from './cache.ts';
export { unreadableReason } from './unreadable.ts';
