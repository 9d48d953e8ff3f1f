import type { StoredObject } from '../../types.ts';

export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  /** 0: always shown; above: in wide output. */
  readonly priority: number;
  readonly description: string;
  readonly cell: (object: StoredObject, now: number) => unknown;
}

type Cell = Column['cell'];

const column = (name: string, type: string, cell: Cell, priority: number, format = ''): Column => ({
  name,
  type,
  format,
  priority,
  description: '',
  cell,
});

export const nameColumn: Column = column('Name', 'string', ({ metadata }) => metadata.name, 0, 'name');
export const text = (name: string, cell: Cell): Column => column(name, 'string', cell, 0);
export const count = (name: string, cell: Cell): Column => column(name, 'integer', cell, 0);
export const wide = (name: string, cell: Cell): Column => column(name, 'string', cell, 1);
