import { invalidValue, type StatusCause, tooLong } from '../../errors.ts';
import { type Json, recordOf, textOf } from '../../json.ts';

/** How many bytes all values of a ConfigMap or of a Secret may have. */
const MOST_BYTES = 1024 * 1024;

const KEY = /^[-._a-zA-Z0-9]+$/;
const KEY_RULE =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

const keyErrors = (key: string): string[] => {
  const errors = key.length > 253 ? ['must be no more than 253 characters'] : [];
  if (!KEY.test(key)) errors.push(KEY_RULE);
  if (key === '.') errors.push("must not be '.'");
  else if (key === '..') errors.push("must not be '..'");
  else if (key.startsWith('..')) errors.push("must not start with '..'");
  return errors;
};

const keyCauses = (values: Json, field: string): StatusCause[] =>
  Object.keys(values).flatMap((key) => keyErrors(key).map((why) => invalidValue(`${field}[${key}]`, key, why)));

/** The length of base64 once it is decoded. */
const decodedBytes = (text: string): number => Math.floor((text.replace(/(?<!=)=+$/, '').length * 3) / 4);

const sum = (values: Json, size: (text: string) => number): number =>
  Object.values(values).reduce<number>((total, value) => total + size(textOf(value)), 0);

export const validateConfigMap = (object: Json): StatusCause[] => {
  const data = recordOf(object.data);
  const binary = recordOf(object.binaryData);
  const twice = Object.keys(data)
    .filter((key) => key in binary)
    .map((key) => invalidValue(`data[${key}]`, key, 'duplicate of key present in binaryData'));
  const bytes = sum(data, (text) => Buffer.byteLength(text)) + sum(binary, decodedBytes);
  return [
    ...keyCauses(data, 'data'),
    ...twice,
    ...keyCauses(binary, 'binaryData'),
    ...(bytes > MOST_BYTES ? [tooLong('[]', MOST_BYTES)] : []),
  ];
};

export const validateSecret = (object: Json): StatusCause[] => {
  const data = recordOf(object.data);
  return [...keyCauses(data, 'data'), ...(sum(data, decodedBytes) > MOST_BYTES ? [tooLong('data', MOST_BYTES)] : [])];
};
