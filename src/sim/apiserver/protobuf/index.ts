export { decodeObject } from './object.ts';
