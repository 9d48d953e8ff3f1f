export { createPrefetch } from './prefetch.ts';
export { pullPodOf } from './pull-pod.ts';
