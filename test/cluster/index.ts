export { type Api, type Json } from './api.ts';
export { type RealCluster, startCluster } from './cluster.ts';
export { kubectl, kubectlApply, runClient } from './kubectl.ts';
export { mintToken, runManager } from './manager.ts';
