import {
  forbiddenField,
  invalid,
  invalidValue,
  notSupported,
  requiredField,
  type StatusCause,
  tooLong,
} from '../errors.ts';

const KINDS: Readonly<Record<string, string>> = { POST: 'CreateOptions', PUT: 'UpdateOptions', PATCH: 'PatchOptions' };

const LONGEST_MANAGER = 128;
const VALIDATIONS = ['', 'Ignore', 'Strict', 'Warn'];
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u;

const managerCauses = (manager: string): StatusCause[] => {
  const causes = Buffer.byteLength(manager) > LONGEST_MANAGER ? [tooLong('fieldManager', LONGEST_MANAGER)] : [];
  let position = 0;
  for (const sign of manager) {
    const code = (sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    if (UNPRINTABLE.test(sign))
      causes.push(invalidValue('fieldManager', manager, `invalid character U+${code} (at position ${position})`));
    position += Buffer.byteLength(sign);
  }
  return causes;
};

/** Refuses values of dryRun, fieldManager, fieldValidation and force that no write may have. */
export const checkWriteOptions = (method: string, query: URLSearchParams, isApply = false): void => {
  const kind = KINDS[method];
  if (kind === undefined) return;
  const manager = query.get('fieldManager') ?? '';
  const dryRun = query.getAll('dryRun');
  const validation = query.get('fieldValidation') ?? '';
  const causes: StatusCause[] = [];
  if (isApply && manager === '') causes.push(requiredField('fieldManager', 'is required for apply patch'));
  if (kind === 'PatchOptions' && !isApply && query.has('force'))
    causes.push(forbiddenField('force', 'may not be specified for non-apply patch'));
  causes.push(...managerCauses(manager));
  if (dryRun.some((value) => value !== 'All')) causes.push(notSupported('dryRun', dryRun, ['All']));
  if (!VALIDATIONS.includes(validation)) causes.push(notSupported('fieldValidation', validation, VALIDATIONS));
  if (causes.length > 0) throw invalid({ group: 'meta.k8s.io', plural: '', kind }, '', causes);
};
