export { type Gate, gate, gatesOpen, hasGate } from '../../rollout/index.ts';
export { firstGatePatch, type GatePatch, gatePatch, gatesToOpen } from './gates.ts';
export { type NewPodInput, newPod, podNameOf } from './new-pod.ts';
export { precondition } from './precondition.ts';
