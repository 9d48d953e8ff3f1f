import { memoize } from '../../memoize.ts';
import type { StoredObject } from '../../types.ts';
import type { Json } from '../json.ts';
import type { Kind } from '../registry/kind.ts';
import { builtinColumns } from './builtin.ts';
import type { Column } from './columns.ts';
import { customColumns } from './custom.ts';

const columnsFor = memoize((kind: Kind): readonly Column[] =>
  kind.custom ? customColumns(kind.custom) : builtinColumns(kind.collection),
);

/** The column definitions of a Table. */
export const columnsOf = (kind: Kind): Json[] =>
  columnsFor(kind).map(({ name, type, format, description, priority }) => ({
    name,
    type,
    format,
    description,
    priority,
  }));

export const tableRow = (kind: Kind, object: StoredObject, now: number): unknown[] =>
  columnsFor(kind).map(({ cell }) => cell(object, now));
