import { isRecord } from '../value/index.ts';
import type { Shape } from './shape.ts';

/** Paths of the fields that the type does not have, as a strict decoder names them. */
export const unknownFields = (value: unknown, shape: Shape, path = ''): string[] => {
  switch (shape.form) {
    case 'any':
    case 'scalar':
      return [];
    case 'list':
      return Array.isArray(value)
        ? (value as unknown[]).flatMap((item, index) => unknownFields(item, shape.of, `${path}[${index}]`))
        : [];
    case 'map':
      return isRecord(value)
        ? Object.entries(value).flatMap(([key, item]) => unknownFields(item, shape.of, `${path}.${key}`))
        : [];
    case 'struct': {
      if (!isRecord(value)) return [];
      return Object.entries(value).flatMap(([name, item]) => {
        const here = path === '' ? name : `${path}.${name}`;
        const field = shape.fields.get(name);
        if (field === undefined) return shape.open ? [] : [here];
        return unknownFields(item, field.shape, here);
      });
    }
  }
};
