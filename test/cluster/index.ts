export { type Api, type Json } from './api.ts';
export { type RealCluster, startCluster } from './cluster.ts';
export type { ControlPlane, ControlPlaneOptions, ProgramName } from './controlplane.ts';
export { kubectl, kubectlApply, runClient } from './kubectl.ts';
export type { Delays } from './kwok.ts';
export { mintToken, runManager } from './manager.ts';
