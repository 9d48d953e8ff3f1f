export { createImageAgents, type ImageAgents, type ImageAgentsOptions } from './image-agents.ts';
export { createPrefetch, type Prefetch, type PrefetchOptions } from './prefetch.ts';
export { imagesOf } from './pull-pod.ts';
