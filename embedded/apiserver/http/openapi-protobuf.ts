import { arrayOf, isRecord, type Json, recordOf, textOf } from '../json.ts';

// Writes an OpenAPI v2 document in the protobuf form of gnostic's OpenAPIv2.proto. kubectl reads it in no other form, and asks
// for it whenever no document of /openapi/v3 has a kind: of a List, and of kinds that aren't served.

const varint = (value: number): Buffer => {
  const bytes: number[] = [];
  let left = value;
  for (; left > 0x7f; left = Math.floor(left / 128)) bytes.push((left % 128) + 128);
  return Buffer.from([...bytes, left]);
};

const LENGTH_DELIMITED = 2;
const field = (number: number, content: Buffer): Buffer =>
  Buffer.concat([varint(number * 8 + LENGTH_DELIMITED), varint(content.length), content]);
const message = (...fields: readonly (Buffer | readonly Buffer[])[]): Buffer => Buffer.concat(fields.flat());
const string = (number: number, value: unknown): Buffer[] =>
  typeof value === 'string' ? [field(number, Buffer.from(value))] : [];
const strings = (number: number, value: unknown): Buffer[] => arrayOf(value).flatMap((each) => string(number, each));

/** Any value, as YAML, of which JSON is a part. */
const any = (value: unknown): Buffer => message(string(2, JSON.stringify(value)));

const namedSchemas = (schemas: Json): Buffer =>
  message(Object.entries(schemas).map(([name, each]) => field(1, message(string(1, name), field(2, schema(each))))));

const additional = (value: unknown): Buffer =>
  isRecord(value) ? field(1, schema(value)) : Buffer.from([2 * 8, value === true ? 1 : 0]);

const optional = (number: number, value: unknown, write: (given: unknown) => Buffer): Buffer[] =>
  value === undefined ? [] : [field(number, write(value))];

/** A schema. Bounds and patterns are left out: kubectl doesn't read them. */
const schema = (given: unknown): Buffer => {
  const value = recordOf(given);
  return message(
    string(1, value.$ref),
    string(2, value.format),
    string(3, value.title),
    string(4, value.description),
    optional(5, value.default, any),
    strings(19, value.required),
    arrayOf(value.enum).map((each) => field(20, any(each))),
    optional(21, value.additionalProperties, additional),
    optional(22, value.type, (type) => message(string(1, type))),
    optional(23, value.items, (items) => field(1, schema(items))),
    arrayOf(value.allOf).map((each) => field(24, schema(each))),
    optional(25, value.properties, (properties) => namedSchemas(recordOf(properties))),
    Object.entries(value)
      .filter(([name]) => name.startsWith('x-'))
      .map(([name, each]) => field(31, message(string(1, name), field(2, any(each))))),
  );
};

export const documentInProtobuf = ({ swagger, info, definitions }: Json): Buffer =>
  message(
    string(1, textOf(swagger)),
    field(2, message(string(1, recordOf(info).title), string(2, recordOf(info).version))),
    field(9, namedSchemas(recordOf(definitions))),
  );
