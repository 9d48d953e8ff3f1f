import type { StatusCause } from '../../errors.ts';
import { at, type Json, recordOf, scalarText } from '../../value/index.ts';
import { invalidValue, requiredField } from './causes.ts';
import { compareQuantities, isQuantity } from './quantity.ts';

const STANDARD = ['cpu', 'memory', 'ephemeral-storage'];
const isStandard = (name: string): boolean => STANDARD.includes(name) || name.startsWith('hugepages-');
const isExtended = (name: string): boolean => name.includes('/') && !name.includes('kubernetes.io/');
const mayExceed = (name: string): boolean => STANDARD.includes(name);

const nameCauses = (name: string, field: string): StatusCause[] => {
  if (isStandard(name) || name.includes('/')) return [];
  return ['must be a standard resource type or fully qualified', 'must be a standard resource for containers'].map(
    (why) => invalidValue(field, name, why),
  );
};

const SPELLING = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

const amountCauses = (name: string, amount: unknown, field: string): StatusCause[] => {
  if (!isQuantity(amount)) return [invalidValue(field, amount, SPELLING)];
  const causes: StatusCause[] = [];
  if (compareQuantities(amount, '0') < 0)
    causes.push(invalidValue(field, String(amount), 'must be greater than or equal to 0'));
  if (isExtended(name) && /[num]$/.test(String(amount)))
    causes.push(invalidValue(field, String(amount), 'must be an integer'));
  return causes;
};

/** Of one container: amounts that can be, and requests within limits. */
export const validateResources = (container: Json, here: string): StatusCause[] => {
  const field = `${here}.resources`;
  const limits = recordOf(at(container, 'resources', 'limits'));
  const requests = recordOf(at(container, 'resources', 'requests'));
  const causes = Object.entries(limits).flatMap(([name, amount]) => [
    ...nameCauses(name, `${field}.limits[${name}]`),
    ...amountCauses(name, amount, `${field}.limits[${name}]`),
  ]);
  for (const [name, amount] of Object.entries(requests)) {
    const one = `${field}.requests[${name}]`;
    const faults = [...nameCauses(name, one), ...amountCauses(name, amount, one)];
    causes.push(...faults);
    const limit = limits[name];
    const shown = scalarText(limit, '');
    if (faults.length > 0 || (limit !== undefined && !isQuantity(limit))) continue;
    if (limit === undefined) {
      if (!mayExceed(name))
        causes.push(requiredField(`${field}.limits`, 'Limit must be set for non overcommitable resources'));
    } else if (!mayExceed(name) && compareQuantities(amount, limit) !== 0)
      causes.push(invalidValue(`${field}.requests`, amount, `must be equal to ${name} limit of ${shown}`));
    else if (compareQuantities(amount, limit) > 0)
      causes.push(invalidValue(`${field}.requests`, amount, `must be less than or equal to ${name} limit of ${shown}`));
  }
  return causes;
};
