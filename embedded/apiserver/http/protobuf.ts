import { memoize } from '../../memoize.ts';
import { type Json, recordOf } from '../json.ts';
import { definitionOfKind, definitionShape } from '../schema/definitions.ts';
import type { ScalarType, Shape, StructShape } from '../schema/shape.ts';

/** A protobuf field: its number and undecoded value. */
export interface WireField {
  readonly number: number;
  readonly value: bigint | Uint8Array;
}

const truncated = (): Error => new RangeError('the protobuf message is truncated');

/** Splits a message into fields. Throws a RangeError if it is truncated. */
export function* wireFields(bytes: Uint8Array): Generator<WireField> {
  let at = 0;
  const varint = (): bigint => {
    let result = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[at];
      if (byte === undefined) throw truncated();
      at += 1;
      result |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, result);
    }
    throw new RangeError('a protobuf varint is too long');
  };
  const take = (length: number): Uint8Array => {
    const part = bytes.subarray(at, at + length);
    if (part.length !== length) throw truncated();
    at += length;
    return part;
  };
  while (at < bytes.length) {
    const tag = varint();
    const number = Number(tag >> 3n);
    switch (Number(tag & 7n)) {
      case 0:
        yield { number, value: varint() };
        break;
      case 1:
        yield { number, value: take(8) };
        break;
      case 2:
        yield { number, value: take(Number(varint())) };
        break;
      case 5:
        yield { number, value: take(4) };
        break;
      default:
        throw new RangeError(`unsupported protobuf wire type ${tag & 7n}`);
    }
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true });

export const bytesOf = (value: bigint | Uint8Array): Uint8Array => {
  if (typeof value === 'bigint') throw new RangeError('a protobuf field has a number instead of bytes');
  return value;
};

const textOfBytes = (value: bigint | Uint8Array): string => decoder.decode(bytesOf(value));
export const signed = (value: bigint | Uint8Array): number =>
  typeof value === 'bigint' ? Number(BigInt.asIntN(64, value)) : 0;

// The prefix of Kubernetes protobuf: four bytes, then an envelope that names the kind.
const MAGIC = Buffer.from('k8s\0');

type Raw = bigint | Uint8Array;

const first = (bytes: Uint8Array, number: number): Raw | undefined => {
  for (const field of wireFields(bytes)) if (field.number === number) return field.value;
  return undefined;
};

const timeText = (raw: Raw, digits: 0 | 6): string => {
  const seconds = signed(first(bytesOf(raw), 1) ?? 0n);
  const nanos = signed(first(bytesOf(raw), 2) ?? 0n);
  const whole = new Date(seconds * 1000).toISOString().slice(0, 19);
  return digits === 0 ? `${whole}Z` : `${whole}.${String(Math.floor(nanos / 1000)).padStart(6, '0')}Z`;
};

const intOrString = (raw: Raw): unknown => {
  const bytes = bytesOf(raw);
  const isText = signed(first(bytes, 1) ?? 0n) === 1;
  return isText ? textOfBytes(first(bytes, 3) ?? new Uint8Array()) : signed(first(bytes, 2) ?? 0n);
};

const scalar = (raw: Raw, type: ScalarType): unknown => {
  switch (type) {
    case 'string':
      return textOfBytes(raw);
    case 'bytes':
      return Buffer.from(bytesOf(raw)).toString('base64');
    case 'boolean':
      return signed(raw) !== 0;
    case 'int32':
    case 'int64':
      return signed(raw);
    case 'number': {
      const bytes = bytesOf(raw);
      return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getFloat64(0, true);
    }
    case 'time':
      return timeText(raw, 0);
    case 'microTime':
      return timeText(raw, 6);
    case 'quantity':
      return textOfBytes(first(bytesOf(raw), 1) ?? new Uint8Array());
    case 'intOrString':
      return intOrString(raw);
  }
};

const value = (raw: Raw, shape: Shape): unknown => {
  switch (shape.form) {
    case 'scalar':
      return scalar(raw, shape.type);
    case 'struct':
      return message(bytesOf(raw), shape, '');
    case 'any': {
      // RawExtension and FieldsV1 hold JSON in their first field.
      const inner = first(bytesOf(raw), 1);
      return inner === undefined || inner.valueOf() === 0n ? {} : (JSON.parse(textOfBytes(inner)) as unknown);
    }
    case 'list':
    case 'map':
      throw new RangeError('a protobuf list or map in a place for a single value');
  }
};

/** Field names by number; an empty name marks a message that Go embeds. */
const layoutOf = memoize(({ fields }: StructShape): ReadonlyMap<string, string> => {
  const layout = new Map<string, string>();
  for (const [name, { number }] of fields) {
    if (number === undefined) continue;
    layout.set(number, name);
    const [outer, inner] = number.split('.');
    if (inner !== undefined && outer !== undefined) layout.set(outer, '');
  }
  return layout;
});

/** An unset time is encoded as an empty message. */
const isZeroTime = (raw: Raw, shape: Shape): boolean =>
  shape.form === 'scalar' &&
  (shape.type === 'time' || shape.type === 'microTime') &&
  typeof raw !== 'bigint' &&
  raw.length === 0;

const message = (bytes: Uint8Array, shape: StructShape, prefix: string): Record<string, unknown> => {
  const layout = layoutOf(shape);
  const result: Record<string, unknown> = {};
  for (const { number, value: raw } of wireFields(bytes)) {
    const place = `${prefix}${number}`;
    const name = layout.get(place);
    if (name === '') {
      Object.assign(result, message(bytesOf(raw), shape, `${place}.`));
      continue;
    }
    const field = name === undefined ? undefined : shape.fields.get(name);
    if (name === undefined || !field) continue;
    const { shape: part } = field;
    if (part.form === 'list') result[name] = [...((result[name] as unknown[] | undefined) ?? []), value(raw, part.of)];
    else if (part.form === 'map') {
      const entry = bytesOf(raw);
      const key = textOfBytes(first(entry, 1) ?? new Uint8Array());
      const item = first(entry, 2) ?? new Uint8Array();
      result[name] = { ...recordOf(result[name]), [key]: value(item, part.of) };
    } else if (!isZeroTime(raw, part)) result[name] = value(raw, part);
  }
  return result;
};

/** Decodes a Kubernetes protobuf body. Throws a RangeError if it isn't one, or if its kind is unknown. */
export const decodeObject = (body: Uint8Array): Json => {
  if (!Buffer.from(body.subarray(0, 4)).equals(MAGIC)) throw new RangeError('the body is not Kubernetes protobuf');
  const envelope = body.subarray(4);
  const type = bytesOf(first(envelope, 1) ?? new Uint8Array());
  const apiVersion = textOfBytes(first(type, 1) ?? new Uint8Array());
  const kind = textOfBytes(first(type, 2) ?? new Uint8Array());
  const name =
    definitionOfKind(`${apiVersion}/${kind}`) ?? (kind === 'DeleteOptions' ? 'meta.v1.DeleteOptions' : undefined);
  const shape = name === undefined ? undefined : definitionShape(name);
  if (shape?.form !== 'struct') throw new RangeError(`${apiVersion} ${kind} can't be decoded`);
  return { ...message(bytesOf(first(envelope, 2) ?? new Uint8Array()), shape, ''), apiVersion, kind };
};
