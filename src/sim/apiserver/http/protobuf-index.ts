export { decodeObject } from './protobuf.ts';
