import type { Kind } from '../registry/index.ts';
import { customShape } from './custom.ts';
import { definitionOfKind, definitionShape } from './definitions.ts';
import { anyShape, type Shape } from './shape.ts';

/** The shape of a kind's objects. */
export const shapeOfKind = (kind: Pick<Kind, 'definition' | 'custom'>): Shape => {
  if (kind.custom) return customShape(kind.custom.schema);
  const name = kind.definition === undefined ? undefined : definitionOfKind(kind.definition);
  return name === undefined ? anyShape : definitionShape(name);
};
