export { advancedDaemonSets, describeAdvancedApi } from './api.ts';
export { templateLabels, templateSpecs, withSpec } from './template-specs.ts';
export { describeTemplates } from './templates.ts';
