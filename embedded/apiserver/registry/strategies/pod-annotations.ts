import { forbiddenField, invalidValue, type StatusCause } from '../../errors.ts';
import { arrayOf, at, isRecord, type Json, recordOf, textOf } from '../../json.ts';
import { APP_ARMOR } from './app-armor.ts';
import { descendingPath } from './volume-validation.ts';

const LISTS = ['initContainers', 'containers', 'ephemeralContainers'];
const SECCOMP_POD = 'seccomp.security.alpha.kubernetes.io/pod';
const SECCOMP = 'container.seccomp.security.alpha.kubernetes.io/';
const LOCAL = 'localhost/';
const PROFILES = ['runtime/default', 'docker/default', 'unconfined'];

const seccompCauses = (profile: string, field: string): StatusCause[] => {
  if (PROFILES.includes(profile)) return [];
  if (profile.startsWith(LOCAL)) return descendingPath(profile.slice(LOCAL.length), field);
  return [invalidValue(field, profile, 'must be a valid seccomp profile')];
};

const isAppArmor = (profile: string): boolean =>
  ['', 'runtime/default', 'unconfined'].includes(profile) || profile.startsWith(LOCAL);

/** Annotations of a pod that Kubernetes reads. */
export const validatePodAnnotations = (metadata: unknown, spec: Json, field: string): StatusCause[] => {
  const annotations = Object.entries(recordOf(at(metadata, 'annotations'))).map(
    ([key, value]) => [key, textOf(value)] as const,
  );
  const names = LISTS.flatMap((list) => arrayOf(spec[list]).map((each) => textOf(at(each, 'name'))));
  const seccomp = annotations
    .filter(([key]) => key === SECCOMP_POD || key.startsWith(SECCOMP))
    // The pod's own first.
    .toSorted(([one], [other]) => Number(other === SECCOMP_POD) - Number(one === SECCOMP_POD))
    .flatMap(([key, value]) => seccompCauses(value, `${field}.${key}`));
  const appArmor = annotations
    .filter(([key]) => key.startsWith(APP_ARMOR))
    .flatMap(([key, value]) => {
      const name = key.slice(APP_ARMOR.length);
      const here = `${field}[${key}]`;
      return [
        ...(names.includes(name) ? [] : [invalidValue(here, name, 'container not found')]),
        ...(isAppArmor(value)
          ? []
          : [invalidValue(here, value, `invalid AppArmor profile name: ${JSON.stringify(value)}`)]),
      ];
    });
  return [...seccomp, ...appArmor];
};

const TYPES: Readonly<Record<string, string>> = { Unconfined: 'unconfined', RuntimeDefault: 'runtime/default' };

/** Annotations and fields that name an AppArmor profile must name the same. */
export const validateAppArmorMatches = (metadata: unknown, spec: Json, field: string): StatusCause[] => {
  if (at(spec, 'os', 'name') === 'windows') return [];
  const ofPod = at(spec, 'securityContext', 'appArmorProfile');
  return LISTS.flatMap((list) =>
    arrayOf(spec[list]).flatMap((container, index): StatusCause[] => {
      const own = at(container, 'securityContext', 'appArmorProfile');
      const profile = isRecord(own) ? own : ofPod;
      const annotation = at(metadata, 'annotations', `${APP_ARMOR}${textOf(at(container, 'name'))}`);
      if (!isRecord(profile) || typeof annotation !== 'string') return [];
      const here = `${field}.${list}[${index}].securityContext.appArmorProfile`;
      const wrongType = forbiddenField(`${here}.type`, 'apparmor type in annotation and field must match');
      const type = textOf(profile.type);
      if (type in TYPES) return annotation === TYPES[type] ? [] : [wrongType];
      if (type !== 'Localhost') return [];
      if (!annotation.startsWith(LOCAL)) return [wrongType];
      return annotation.slice(LOCAL.length) === profile.localhostProfile
        ? []
        : [forbiddenField(`${here}.localhostProfile`, 'apparmor profile in annotation and field must match')];
    }),
  );
};
