export { jsonPatch } from './json-patch.ts';
export { mergePatch } from './merge.ts';
export { strategicPatch } from './strategic.ts';
