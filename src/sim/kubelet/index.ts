export { type Behaviour, behaviours, type Delays, OFFLINE, POWER } from './behaviour.ts';
export { createKubelets } from './kubelets.ts';
export { kubeletLabels } from './node-status.ts';
