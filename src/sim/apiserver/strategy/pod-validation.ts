import type { Cause } from '../refusal.ts';
import { arrayOf, at, type Json, recordOf, textOf } from '../value/index.ts';
import { duplicate, invalidValue, notSupported, required } from './causes.ts';
import { isQuantity } from './quantity.ts';

const resources = (container: Json, field: string): Cause[] =>
  ['limits', 'requests'].flatMap((list) =>
    Object.entries(recordOf(at(container, 'resources', list))).flatMap(([name, value]) =>
      isQuantity(value)
        ? []
        : [
            invalidValue(
              `${field}.resources.${list}[${name}]`,
              value,
              "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
            ),
          ],
    ),
  );

const containers = (spec: Json, list: string, field: string): Cause[] => {
  const seen = new Set<string>();
  return arrayOf(spec[list]).flatMap((each, index) => {
    const here = `${field}.${list}[${index}]`;
    const container = recordOf(each);
    const name = textOf(container.name);
    const causes: Cause[] = [];
    if (name === '') causes.push(required(`${here}.name`));
    const image = textOf(container.image);
    if (image === '') causes.push(required(`${here}.image`));
    else if (image.trim() !== image)
      causes.push(invalidValue(`${here}.image`, image, 'must not have leading or trailing whitespace'));
    if (name !== '' && seen.has(name)) causes.push(duplicate(`${here}.name`, name));
    seen.add(name);
    const policy = textOf(container.imagePullPolicy);
    if (!['Always', 'IfNotPresent', 'Never'].includes(policy))
      causes.push(notSupported(`${here}.imagePullPolicy`, policy, ['Always', 'IfNotPresent', 'Never']));
    for (const [at_, mount] of arrayOf(container.volumeMounts).entries()) {
      const volume = textOf(at(mount, 'name'));
      if (!arrayOf(spec.volumes).some((one) => at(one, 'name') === volume))
        causes.push({
          reason: 'FieldValueNotFound',
          message: `Not found: ${JSON.stringify(volume)}`,
          field: `${here}.volumeMounts[${at_}].name`,
        });
    }
    return [...causes, ...resources(container, here)];
  });
};

/** The faults of a pod spec that people meet: what it needs, names told apart, references that lead nowhere. */
export const validatePodSpec = (spec: Json, field: string): Cause[] => {
  const causes: Cause[] = [];
  if (arrayOf(spec.containers).length === 0) causes.push(required(`${field}.containers`));
  causes.push(...containers(spec, 'containers', field), ...containers(spec, 'initContainers', field));
  const policy = textOf(spec.restartPolicy);
  if (!['Always', 'OnFailure', 'Never'].includes(policy))
    causes.push(notSupported(`${field}.restartPolicy`, policy, ['Always', 'OnFailure', 'Never']));
  return causes;
};
