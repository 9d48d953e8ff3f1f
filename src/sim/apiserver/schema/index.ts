export { definitionNames, definitionOfKind, definitionShape, structShape } from './definitions.ts';
export { markNormalized, normalize } from './normalize.ts';
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
export { wrongType } from './type-check.ts';
export { unknownFields } from './unknown.ts';
