export { exchangeable, type InPlacePlan, type Plan, planInPlace } from './plan.ts';
export { type InPlaceInput, type InPlaceStep, nextInPlaceStep } from './step.ts';
