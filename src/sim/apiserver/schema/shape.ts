/**
 * What is known of a value's form: enough to merge, to own field by field, to find unknown fields and to describe it.
 * Built-in types get theirs from the table in definitions.txt, custom resources from their schema.
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
  /** Of a built-in type; empty for a custom resource's parts. */
  readonly name: string;
  readonly fields: ReadonlyMap<string, Field>;
  /** Owned and replaced as a whole. */
  readonly atomic: boolean;
  /** Fields that are not named are kept. */
  readonly open: boolean;
}

export interface Field {
  readonly required: boolean;
  readonly shape: Shape;
  /** The patch strategies of a strategic merge, such as `merge`, `replace`, `retainKeys`. */
  readonly strategies: readonly string[];
  /** What tells a merged list's items apart in a strategic merge. */
  readonly mergeKey: string | undefined;
  /** Of the field in protobuf; `2.5` for the fifth of what is in the message's second. */
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
  /** Values of keys that an item leaves out. */
  readonly keyDefaults: Readonly<Record<string, unknown>>;
}

/** Anything at all; owned as a whole. */
export interface AnyShape {
  readonly form: 'any';
}

export const anyShape: AnyShape = { form: 'any' };
