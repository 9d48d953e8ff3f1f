export { defaultedTemplate } from './defaulted-template.ts';
export { HASH_LABEL } from './history.ts';
