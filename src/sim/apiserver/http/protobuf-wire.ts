/** One field of a message: its number and what it holds, still undecoded. */
export interface WireField {
  readonly number: number;
  readonly value: bigint | Uint8Array;
}

const truncated = (): Error => new RangeError('a protobuf message ends inside a field');

/** Splits a message into its fields. Throws a RangeError when it is cut short. */
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
    throw new RangeError('a protobuf number is too long');
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
        throw new RangeError(`a protobuf field of the wire type ${tag & 7n} cannot be read`);
    }
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true });

export const bytesOf = (value: bigint | Uint8Array): Uint8Array => {
  if (typeof value === 'bigint') throw new RangeError('a protobuf field holds a number where bytes belong');
  return value;
};

export const textOfBytes = (value: bigint | Uint8Array): string => decoder.decode(bytesOf(value));
export const signed = (value: bigint | Uint8Array): number =>
  typeof value === 'bigint' ? Number(BigInt.asIntN(64, value)) : 0;
