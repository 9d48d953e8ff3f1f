export { type Behaviour, type Delays } from './behaviour.ts';
export { createKubelets } from './kubelets.ts';
export { kubeletLabels } from './node-status.ts';
