export { createImageAgents, type ImageAgents, type ImageAgentsOptions } from './image-agents.ts';
export { imagesOf } from './images.ts';
export { createPrefetch, type Prefetch, type PrefetchOptions } from './prefetch.ts';
export { PULL_LABEL } from './pull-pod.ts';
