import { KubeError, type KubeErrorCode } from '../../src/kube/index.ts';
import { errorText } from '../../src/runtime/index.ts';
import { arrayOf, isRecord, type Json, recordOf, textOf } from './json.ts';

export interface StatusCause {
  reason: string;
  message: string;
  field?: string;
}

export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: readonly StatusCause[];
  retryAfterSeconds?: number;
}

/** The HTTP status and client error code of each reason. */
const REASONS = {
  '': [500, 'InternalError'],
  AlreadyExists: [409, 'AlreadyExists'],
  BadRequest: [400, 'BadRequest'],
  Conflict: [409, 'Conflict'],
  Expired: [410, 'Gone'],
  Forbidden: [403, 'Forbidden'],
  InternalError: [500, 'InternalError'],
  Invalid: [422, 'Invalid'],
  MethodNotAllowed: [405, 'BadRequest'],
  NotAcceptable: [406, 'BadRequest'],
  NotFound: [404, 'NotFound'],
  RequestEntityTooLarge: [413, 'BadRequest'],
  Timeout: [504, 'ServerTimeout'],
  TooManyRequests: [429, 'TooManyRequests'],
  Unauthorized: [401, 'Unauthorized'],
  UnsupportedMediaType: [415, 'BadRequest'],
} as const satisfies Record<string, readonly [number, KubeErrorCode]>;

type Reason = keyof typeof REASONS;

/** An API error with the fields of its `Status`. */
export class StatusError extends KubeError {
  override readonly name = 'StatusError';
  readonly reason: string;
  declare readonly details: StatusDetails | undefined;
  /** What the client is warned of besides. */
  warnings: readonly string[] = [];

  constructor(reason: Reason, message: string, details?: StatusDetails) {
    const [status, code] = REASONS[reason];
    super(code, message, { status, details });
    this.reason = reason;
  }
}

/** The names of a resource in error messages. */
export interface ResourceName {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
}

const qualified = ({ group }: ResourceName, name: string): string => (group === '' ? name : `${name}.${group}`);
const detailsOf = (
  { group }: ResourceName,
  kind: string,
  name: string,
  causes?: readonly StatusCause[],
): StatusDetails => ({
  ...(name !== '' && { name }),
  ...(group !== '' && { group }),
  ...(kind !== '' && { kind }),
  ...(causes && { causes }),
});

export const badRequest = (message: string): StatusError => new StatusError('BadRequest', message);

export const notFound = (named: ResourceName, name: string): StatusError =>
  new StatusError(
    'NotFound',
    `${qualified(named, named.plural)} ${JSON.stringify(name)} not found`,
    detailsOf(named, named.plural, name),
  );

/** The path or resource doesn't exist. */
export const noResource = (): StatusError =>
  new StatusError('NotFound', 'the server could not find the requested resource', {});

export const alreadyExists = (named: ResourceName, name: string): StatusError =>
  new StatusError(
    'AlreadyExists',
    `${qualified(named, named.plural)} ${JSON.stringify(name)} already exists`,
    detailsOf(named, named.plural, name),
  );

export const conflict = (named: ResourceName, name: string, why: string): StatusError =>
  new StatusError(
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(named, named.plural)} ${JSON.stringify(name)}: ${why}`,
    detailsOf(named, named.plural, name),
  );

export const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again';

export const forbidden = (
  named: ResourceName,
  name: string,
  why: string,
  causes?: readonly StatusCause[],
): StatusError =>
  new StatusError(
    'Forbidden',
    `${qualified(named, named.plural)} ${name === '' ? 'is' : `${JSON.stringify(name)} is`} forbidden: ${why}`,
    detailsOf(named, named.plural, name, causes),
  );

export const invalid = (named: ResourceName, name: string, causes: readonly StatusCause[]): StatusError => {
  // Repeated errors are reported once.
  const texts = [
    ...new Set(causes.map(({ field, message }) => (field === undefined ? message : `${field}: ${message}`))),
  ];
  const all = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  return new StatusError(
    'Invalid',
    `${qualified(named, named.kind)} ${JSON.stringify(name)} is invalid: ${all}`,
    detailsOf(named, named.kind, name, causes),
  );
};

export const methodNotAllowed = (): StatusError =>
  new StatusError('MethodNotAllowed', 'the server does not allow this method on the requested resource', {});

/** A server error without a reason. */
export const unexplained = (message: string): StatusError => new StatusError('', message);

export const expired = (message: string): StatusError => new StatusError('Expired', message);
const internalError = (why: string): StatusError =>
  new StatusError('InternalError', `Internal error occurred: ${why}`, {
    causes: [{ reason: '', message: why }],
  });

/** The `Status` object of an error. */
export const toStatus = (error: unknown): Json & { code: number } => {
  if (!(error instanceof KubeError)) {
    const why = errorText(error);
    return toStatus(internalError(why));
  }
  const details = error instanceof StatusError ? error.details : undefined;
  const reason = error instanceof StatusError ? error.reason : error.code;
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

const LIST_OPTIONS: ResourceName = { group: 'meta.k8s.io', plural: '', kind: 'ListOptions' };

/** An invalid combination of list or watch options. */
export const badListOptions = (field: string, why: string): StatusError =>
  invalid(LIST_OPTIONS, '', [{ reason: 'FieldValueForbidden', message: `Forbidden: ${why}`, field }]);

export const requiredField = (field: string, why = ''): StatusCause => ({
  reason: 'FieldValueRequired',
  message: why === '' ? 'Required value' : `Required value: ${why}`,
  field,
});

export const invalidValue = (field: string, value: unknown, why: string): StatusCause => ({
  reason: 'FieldValueInvalid',
  message: `Invalid value: ${JSON.stringify(value) ?? 'null'}: ${why}`,
  field,
});

export const notSupported = (field: string, value: unknown, supported: readonly string[]): StatusCause => ({
  reason: 'FieldValueNotSupported',
  message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${supported.map((each) => JSON.stringify(each)).join(', ')}`,
  field,
});

export const tooLong = (field: string, most: number): StatusCause => ({
  reason: 'FieldValueTooLong',
  message: `Too long: may not be more than ${most} bytes`,
  field,
});

export const duplicateValue = (field: string, value: unknown): StatusCause => ({
  reason: 'FieldValueDuplicate',
  message: `Duplicate value: ${JSON.stringify(value)}`,
  field,
});

export const forbiddenField = (field: string, why: string): StatusCause => ({
  reason: 'FieldValueForbidden',
  message: `Forbidden: ${why}`,
  field,
});

/** A cause if the value is no text, or an empty one. */
export const nonEmpty = (field: string, value: unknown, why?: string): StatusCause[] =>
  textOf(value) === '' ? [requiredField(field, why)] : [];

/** A cause if the text is none of these. */
export const oneOf = (field: string, value: unknown, supported: readonly string[]): StatusCause[] =>
  supported.includes(textOf(value)) ? [] : [notSupported(field, textOf(value), supported)];

/** A cause for each of these reasons. */
export const invalidFor = (field: string, value: unknown, reasons: readonly string[]): StatusCause[] =>
  reasons.map((why) => invalidValue(field, value, why));

/** A value as Go prints it. */
export const goText = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  if (!isRecord(value)) return value === null ? '<nil>' : typeof value === 'string' ? value : JSON.stringify(value);
  const keys = Object.keys(value).toSorted();
  return `map[${keys.map((key) => `${key}:${goText(value[key])}`).join(' ')}]`;
};

/** Validates each item of a list, with the path of the item. */
export const validateItems = (
  object: Json,
  list: string,
  field: string,
  validate: (item: Json, field: string) => StatusCause[],
): StatusCause[] =>
  arrayOf(object[list]).flatMap((item, index) => validate(recordOf(item), `${field}.${list}[${index}]`));
