import type { StatusCause } from '../../errors.ts';

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
