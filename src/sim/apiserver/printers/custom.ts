import type { CustomVersion } from '../registry/index.ts';
import { scalarText, textOf } from '../value/index.ts';
import { type Column, nameColumn, text } from './column.ts';
import { ageOf } from './duration.ts';
import { jsonPath } from './json-path.ts';

const cellOf = (type: string, value: unknown, now: number): unknown => {
  if (value === undefined || value === null) return null;
  switch (type) {
    case 'date':
      return ageOf(value, now);
    case 'integer':
    case 'number': {
      const number = Number(value);
      return Number.isNaN(number) ? null : number;
    }
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    default:
      return scalarText(value, JSON.stringify(value));
  }
};

/** The printer columns of a custom resource; without any, its age. */
export const customColumns = ({ columns }: CustomVersion): readonly Column[] => {
  if (columns.length === 0)
    return [nameColumn, text('Age', (object, now) => ageOf(object.metadata.creationTimestamp, now))];
  const own = columns.map((definition): Column => {
    const path = jsonPath(textOf(definition.jsonPath));
    const type = textOf(definition.type);
    return {
      name: textOf(definition.name),
      type,
      format: textOf(definition.format),
      description: textOf(definition.description),
      priority: Number(definition.priority ?? 0),
      cell: (object, now) => cellOf(type, path(object)[0], now),
    };
  });
  return [nameColumn, ...own];
};
