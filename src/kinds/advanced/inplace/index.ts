export { planInPlace, updatableContainers } from './plan.ts';
export { type InPlaceStep, nextInPlaceStep } from './step.ts';
