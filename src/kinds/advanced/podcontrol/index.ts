export { gate } from '../../../rollout/index.ts';
export { newPod } from './new-pod.ts';
export { initialGatePatch } from './readiness-gates.ts';
