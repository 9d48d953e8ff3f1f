import { KubeError, type KubeErrorCode } from '../../kube/index.ts';
import type { Json } from './value/index.ts';

export interface Cause {
  reason: string;
  message: string;
  field?: string;
}

export interface Details {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: readonly Cause[];
  retryAfterSeconds?: number;
}

/** A refusal as the API server words it; carries what its `Status` needs beyond a `KubeError`. */
export class Refusal extends KubeError {
  readonly reason: string;
  declare readonly details: Details | undefined;

  constructor(code: KubeErrorCode, status: number, reason: string, message: string, details?: Details) {
    super(code, message, { status, details });
    this.reason = reason;
  }
}

/** What refusals need to know of a resource. */
export interface Named {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
}

const qualified = (name: string, group: string): string => (group === '' ? name : `${name}.${group}`);
const detailsOf = ({ group, plural }: Named, name: string): Details => ({
  ...(name === '' ? {} : { name }),
  ...(group === '' ? {} : { group }),
  kind: plural,
});

export const badRequest = (message: string): Refusal => new Refusal('BadRequest', 400, 'BadRequest', message);

export const notFound = (named: Named, name: string): Refusal =>
  new Refusal(
    'NotFound',
    404,
    'NotFound',
    `${qualified(named.plural, named.group)} ${JSON.stringify(name)} not found`,
    detailsOf(named, name),
  );

/** No such path, or no such resource. */
export const noResource = (): Refusal =>
  new Refusal('NotFound', 404, 'NotFound', 'the server could not find the requested resource', {});

export const alreadyExists = (named: Named, name: string): Refusal =>
  new Refusal(
    'AlreadyExists',
    409,
    'AlreadyExists',
    `${qualified(named.plural, named.group)} ${JSON.stringify(name)} already exists`,
    detailsOf(named, name),
  );

export const conflict = (named: Named, name: string, why: string, causes?: readonly Cause[]): Refusal =>
  new Refusal(
    'Conflict',
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(named.plural, named.group)} ${JSON.stringify(name)}: ${why}`,
    { ...detailsOf(named, name), ...(causes ? { causes } : {}) },
  );

export const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again';

export const forbidden = (named: Named, name: string, why: string, causes?: readonly Cause[]): Refusal =>
  new Refusal(
    'Forbidden',
    403,
    'Forbidden',
    `${qualified(named.plural, named.group)} ${name === '' ? 'is' : `${JSON.stringify(name)} is`} forbidden: ${why}`,
    { ...detailsOf(named, name), ...(causes ? { causes } : {}) },
  );

export const invalid = (named: Named, name: string, causes: readonly Cause[]): Refusal => {
  // A fault that is found twice is said once.
  const texts = [
    ...new Set(causes.map(({ field, message }) => (field === undefined ? message : `${field}: ${message}`))),
  ];
  const all = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  return new Refusal(
    'Invalid',
    422,
    'Invalid',
    `${qualified(named.kind, named.group)} ${JSON.stringify(name)} is invalid: ${all}`,
    {
      ...(name === '' ? {} : { name }),
      ...(named.group === '' ? {} : { group: named.group }),
      kind: named.kind,
      causes,
    },
  );
};

export const methodNotAllowed = (): Refusal =>
  new Refusal(
    'BadRequest',
    405,
    'MethodNotAllowed',
    'the server does not allow this method on the requested resource',
    {},
  );

/** A failure that the server gives no reason for. */
export const failed = (message: string): Refusal => new Refusal('InternalError', 500, '', message);

export const expired = (message: string): Refusal => new Refusal('Gone', 410, 'Expired', message);
export const gone = (message: string): Refusal => new Refusal('Gone', 410, 'Gone', message);
export const internalError = (why: string): Refusal =>
  new Refusal('InternalError', 500, 'InternalError', `Internal error occurred: ${why}`, {
    causes: [{ reason: '', message: why }],
  });

const reasonOfCode = (error: KubeError): string => (error instanceof Refusal ? error.reason : error.code);

/** The `Status` object that tells of an error. */
export const statusOf = (error: unknown): Json & { code: number } => {
  if (!(error instanceof KubeError)) {
    const why = error instanceof Error ? error.message : String(error);
    return statusOf(internalError(why));
  }
  const details = error instanceof Refusal ? error.details : undefined;
  const reason = reasonOfCode(error);
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: error.message,
    ...(reason === '' ? {} : { reason }),
    ...(details ? { details } : {}),
    code: error.status === 0 ? 500 : error.status,
  };
};

const LIST_OPTIONS: Named = { group: 'meta.k8s.io', plural: '', kind: 'ListOptions' };

/** The options of a list or watch that are not allowed together. */
export const badListOptions = (field: string, why: string): Refusal =>
  invalid(LIST_OPTIONS, '', [{ reason: 'FieldValueForbidden', message: `Forbidden: ${why}`, field }]);
