export { describeAdvancedApi } from './api.ts';
export { describeHandover } from './handover.ts';
export { describeInPlace } from './in-place.ts';
export { describeOwners } from './owners.ts';
export { describeServed } from './served.ts';
export type { HandStage } from './stage.ts';
export { templateLabels, templateSpecs, withSpec } from './template-specs.ts';
export { describeTemplates } from './templates.ts';
