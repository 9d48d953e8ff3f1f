export { createPrefetch, type PrefetchOptions } from './prefetch.ts';
export { pullPodOf } from './pull-pod.ts';
