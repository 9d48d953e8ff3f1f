import { StatusError } from '../errors.ts';

export type ResponseFormat = 'object' | 'table' | 'metadata';

const parameters = (entry: string): Map<string, string> =>
  new Map(
    entry
      .split(';')
      .slice(1)
      .map((pair) => {
        const [key = '', value = ''] = pair.trim().split('=');
        return [key, value] as const;
      }),
  );

// As a real server lists them; of these, this one gives JSON.
const MEDIA_TYPES = [
  'json',
  'yaml',
  'vnd.kubernetes.protobuf',
  'json;stream=watch',
  'vnd.kubernetes.protobuf;stream=watch',
].map((type) => `application/${type}`);

const notAcceptable = (): StatusError =>
  new StatusError(
    'BadRequest',
    406,
    'NotAcceptable',
    `406: Not Acceptable\n\nAvailable representations: ${MEDIA_TYPES.join(', ')}`,
    {},
  );

/** The form that the first media type which can be served asks for. */
export const negotiateFormat = (accept: string): ResponseFormat => {
  if (accept === '') return 'object';
  for (const entry of accept.split(',')) {
    const type = entry.split(';', 1)[0]?.trim();
    if (type !== 'application/json' && type !== '*/*' && type !== 'application/*') continue;
    const as = parameters(entry).get('as');
    if (as === undefined) return 'object';
    if (as === 'Table') return 'table';
    if (as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList') return 'metadata';
  }
  throw notAcceptable();
};

export const wantsAggregatedDiscovery = (accept: string): 'v2' | undefined =>
  accept.split(',').some((entry) => {
    const wanted = parameters(entry);
    return wanted.get('as') === 'APIGroupDiscoveryList' && wanted.get('v') === 'v2';
  })
    ? 'v2'
    : undefined;
