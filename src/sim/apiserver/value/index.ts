export { arrayOf, at, isRecord, type Json, recordOf, scalarText, textOf, without, withPath } from '../json.ts';
export { equal, identical } from './equal.ts';
