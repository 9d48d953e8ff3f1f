export { definitionNames, definitionOfKind, definitionShape, structShape } from './definitions.ts';
export { normalize, noteStored } from './normalize.ts';
export { shapeOfKind } from './of-kind.ts';
export {
  anyShape,
  type Field,
  type ListShape,
  type MapShape,
  type ScalarType,
  type Shape,
  type StructShape,
} from './shape.ts';
export { wrongType } from './types.ts';
export { unknownFields } from './unknown.ts';
