export { type Gate, gate, gatePatch, gatesOpen, gatesToOpen, hasGate } from './gates.ts';
export { type NewPodInput, newPod, podNameOf } from './new-pod.ts';
