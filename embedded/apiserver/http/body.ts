import { errorText } from '../../../src/runtime/index.ts';
import { badRequest, StatusError } from '../errors.ts';
import { isRecord, type Json } from '../json.ts';
import type { Request } from './exchange.ts';

/** Here and not in protobuf.ts, so that only requests with protobuf load the decoder. */
const isProtobuf = (contentType: string): boolean => contentType.includes('protobuf');

const parseYaml = async (text: string): Promise<unknown> => {
  // Slow to load, and only kubectl's server-side apply sends YAML.
  const { parse } = await import('yaml');
  return parse(text) as unknown;
};

const UNSUPPORTED =
  'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf';

const parse = async (body: Buffer, type: string): Promise<unknown> => {
  if (isProtobuf(type)) {
    const { decodeObject } = await import('./protobuf.ts');
    return decodeObject(body);
  }
  const text = body.toString('utf8');
  const media = type.split(';', 1)[0]?.trim() ?? '';
  if (media.endsWith('yaml')) {
    // JSON is YAML, and much faster to parse.
    if (!/^\s*[[{]/.test(text)) return parseYaml(text);
  } else if (media !== '' && !media.endsWith('json')) throw new StatusError('UnsupportedMediaType', UNSUPPORTED);
  return JSON.parse(text) as unknown;
};

/** Parses the body; without one, returns `ifEmpty`. Rejects what can't be parsed with BadRequest. */
export const readValue = async (request: Request, type = request.contentType, ifEmpty?: Json): Promise<unknown> => {
  if (request.value !== undefined) return request.value;
  const body = await request.body();
  if (body.length === 0 && ifEmpty) return ifEmpty;
  try {
    return await parse(body, type);
  } catch (error) {
    if (error instanceof StatusError) throw error;
    const why = errorText(error);
    throw Object.assign(badRequest(`error decoding the body: ${why}`), { cause: error });
  }
};

const LARGE = 512 * 1024;

/** Whether the body is large; a body that is known as a value is not measured. */
export const isLarge = async (request: Request): Promise<boolean> =>
  request.value === undefined && (await request.body()).length > LARGE;

export const readObject = async (request: Request, ifEmpty?: Json): Promise<Json> => {
  const value = await readValue(request, request.contentType, ifEmpty);
  if (!isRecord(value)) throw badRequest('the body must be an object');
  return value;
};

const patchTypes = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
} as const;

export const patchTypeOf = (type: string): (typeof patchTypes)[keyof typeof patchTypes] => {
  const media = type.split(';', 1)[0]?.trim() ?? '';
  if (Object.hasOwn(patchTypes, media)) return patchTypes[media as keyof typeof patchTypes];
  throw new StatusError('UnsupportedMediaType', '415: Unsupported Media Type', {});
};
