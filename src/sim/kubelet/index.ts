export { type Behaviour, behaviours, type Delays, OFFLINE, POWER } from './behaviour.ts';
export { createKubelets, type Kubelets } from './kubelets.ts';
export { kubeletLabels } from './node-status.ts';
