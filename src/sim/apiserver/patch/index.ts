export { jsonPatch } from './json-patch.ts';
export { mergePatch } from './merge-patch.ts';
export { strategicPatch } from './strategic-merge.ts';
