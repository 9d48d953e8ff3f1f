export { type FieldReader, parseFieldSelector } from './fields.ts';
export { matchesLabelSelector, parseLabelSelector } from './labels.ts';
export type Matcher = (object: import('../value/index.ts').Json) => boolean;
