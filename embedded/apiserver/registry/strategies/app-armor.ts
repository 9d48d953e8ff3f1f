import { at, equal, isRecord, type Json, mapItems, recordOf, textOf } from '../../json.ts';

/** The prefix of the annotations that named the AppArmor profile of a container before Kubernetes had a field for it. */
export const APP_ARMOR = 'container.apparmor.security.beta.kubernetes.io/';

const LOCAL = 'localhost/';

/** The value of the field that an annotation stands for; undefined if it stands for none. */
export const appArmorProfile = (annotation: string): Json | undefined => {
  if (annotation === 'unconfined') return { type: 'Unconfined' };
  if (annotation === 'runtime/default') return { type: 'RuntimeDefault' };
  if (!annotation.startsWith(LOCAL) || annotation === LOCAL) return undefined;
  return { type: 'Localhost', localhostProfile: annotation.slice(LOCAL.length) };
};

/** Copies the annotations of a new pod to the fields of its containers. */
export const withAppArmorFields = (pod: Json): Json => {
  const annotations = recordOf(at(pod, 'metadata', 'annotations'));
  if (!Object.keys(annotations).some((key) => key.startsWith(APP_ARMOR))) return pod;
  const spec = recordOf(pod.spec);
  if (at(spec, 'os', 'name') === 'windows') return pod;
  const ofPod = at(spec, 'securityContext', 'appArmorProfile');
  const filled = (container: Json): Json => {
    const profile = appArmorProfile(textOf(annotations[`${APP_ARMOR}${textOf(container.name)}`]));
    const context = recordOf(container.securityContext);
    if (profile === undefined || isRecord(context.appArmorProfile) || equal(profile, ofPod)) return container;
    return { ...container, securityContext: { ...context, appArmorProfile: profile } };
  };
  return { ...pod, spec: mapItems(mapItems(spec, 'initContainers', filled), 'containers', filled) };
};
