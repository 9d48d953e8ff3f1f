export { type FieldReader, parseFieldSelector } from './fields.ts';
export { matchesLabelSelector, parseLabelSelector } from './labels.ts';
