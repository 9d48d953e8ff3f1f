/**
 * The type information of a value: enough for merging, field ownership, finding unknown fields, and OpenAPI. Built-in
 * types have theirs in definitions.txt, custom resources in their schema.
 */
export type Shape = ScalarShape | StructShape | MapShape | ListShape | AnyShape;

export interface ScalarShape {
  readonly form: 'scalar';
  readonly type: ScalarType;
}

export type ScalarType =
  | 'string'
  | 'boolean'
  | 'int32'
  | 'int64'
  | 'number'
  | 'bytes'
  | 'time'
  | 'microTime'
  | 'intOrString'
  | 'quantity';

export interface StructShape {
  readonly form: 'struct';
  /** The name of a built-in type; empty for parts of custom resources. */
  readonly name: string;
  readonly fields: ReadonlyMap<string, Field>;
  /** Owned and replaced as a whole. */
  readonly atomic: boolean;
  /** Unknown fields are preserved. */
  readonly open: boolean;
}

export interface Field {
  readonly required: boolean;
  readonly shape: Shape;
  /** The patch strategies of a strategic merge, such as `merge`, `replace`, `retainKeys`. */
  readonly strategies: readonly string[];
  /** The key of a merged list's items in a strategic merge. */
  readonly mergeKey: string | undefined;
  /** The protobuf field number; `2.5` for field 5 of the embedded message in field 2. */
  readonly number: string | undefined;
}

export interface MapShape {
  readonly form: 'map';
  readonly of: Shape;
  readonly atomic: boolean;
}

export interface ListShape {
  readonly form: 'list';
  readonly of: Shape;
  readonly list: 'atomic' | 'set' | 'map';
  /** For lists of type `map`. */
  readonly keys: readonly string[];
  /** Defaults for keys that an item omits. */
  readonly keyDefaults: Readonly<Record<string, unknown>>;
}

/** Anything at all; owned as a whole. */
export interface AnyShape {
  readonly form: 'any';
}

export const anyShape: AnyShape = { form: 'any' };
