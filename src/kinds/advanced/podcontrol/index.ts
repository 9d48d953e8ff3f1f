export { gate } from '../../../words/index.ts';
export { newPod } from './new-pod.ts';
export { initialGatePatch } from './readiness-gates.ts';
