import { arrayOf, at, type Json, mapField, mapItems, textOf, without } from '../../json.ts';

// Fields of a pod behind feature gates that are off in Kubernetes 1.34. The API server drops them from new objects in silence.

const isImage = (volume: unknown): boolean => at(volume, 'image') !== undefined;

const hooks = (container: Json): Json => {
  if (at(container, 'lifecycle', 'stopSignal') === undefined) return container;
  const rest = mapField(container, 'lifecycle', (each) => without(each, 'stopSignal'));
  return Object.keys(rest.lifecycle as Json).length === 0 ? without(rest, 'lifecycle') : rest;
};

const variables = (container: Json): Json =>
  mapItems(container, 'env', (variable) => mapField(variable, 'valueFrom', (from) => without(from, 'fileKeyRef')));

/** Only sidecars have a restart policy of their own. */
const restarts = (container: Json, isInit: boolean): Json =>
  without(
    container,
    'restartPolicyRules',
    ...(isInit && container.restartPolicy === 'Always' ? [] : ['restartPolicy']),
  );

const sources = (volume: Json): Json =>
  mapField(volume, 'projected', (projected) =>
    mapItems(projected, 'sources', (source) => without(source, 'clusterTrustBundle', 'podCertificate')),
  );

const withoutImageVolumes = (spec: Json): Json => {
  const images = arrayOf(spec.volumes).filter(isImage);
  if (images.length === 0) return spec;
  const names = images.map((volume) => textOf(at(volume, 'name')));
  const isKept = (mount: unknown): boolean => !names.includes(textOf(at(mount, 'name')));
  const left = (object: Json, list: string, kept: readonly unknown[]): Json =>
    kept.length === 0 ? without(object, list) : { ...object, [list]: kept };
  const unmounted = (container: Json): Json =>
    container.volumeMounts === undefined
      ? container
      : left(container, 'volumeMounts', arrayOf(container.volumeMounts).filter(isKept));
  const volumes = arrayOf(spec.volumes).filter((volume) => !isImage(volume));
  return mapItems(mapItems(left(spec, 'volumes', volumes), 'containers', unmounted), 'initContainers', unmounted);
};

/** The pod spec as it is stored. */
export const withoutDisabledFields = (spec: Json): Json => {
  let result = withoutImageVolumes(without(spec, 'hostnameOverride'));
  for (const list of ['containers', 'initContainers', 'ephemeralContainers'])
    result = mapItems(result, list, (each) => hooks(variables(restarts(each, list === 'initContainers'))));
  return mapItems(result, 'volumes', sources);
};
