import {
  duplicateValue,
  forbiddenField,
  invalidFor,
  invalidValue,
  nonEmpty,
  oneOf,
  requiredField,
  type StatusCause,
  validateItems,
} from '../../errors.ts';
import { arrayOf, at, isRecord, type Json, textOf } from '../../json.ts';
import { labelCauses, nameErrors } from './names.ts';

const BACKSTEPS = "must not contain '..'";

const backsteps = (path: string, field: string): StatusCause[] =>
  path.split('/').includes('..') ? [invalidValue(field, path, BACKSTEPS)] : [];

/** A path below another: relative, and without a way out. */
export const descendingPath = (path: string, field: string): StatusCause[] => [
  ...(path.startsWith('/') ? [invalidValue(field, path, 'must be a relative path')] : []),
  ...backsteps(path, field),
];

const HOST_PATHS = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
] as const;

const hostPath = (source: Json, field: string): StatusCause[] => {
  const path = textOf(source.path);
  if (path === '') return [requiredField(`${field}.path`)];
  return [...backsteps(path, `${field}.path`), ...oneOf(`${field}.type`, source.type, HOST_PATHS)];
};

const MODE = 'must be a number between 0 and 0777 (octal), both inclusive';

const mode = (source: Json, name: string, field: string): StatusCause[] => {
  const value = source[name];
  return typeof value === 'number' && (value < 0 || value > 0o777)
    ? [invalidValue(`${field}.${name}`, value, MODE)]
    : [];
};

const localPath = (path: string, field: string): StatusCause[] => [
  ...descendingPath(path, field),
  ...(path.startsWith('..') && !path.startsWith('../') && path !== '..'
    ? [invalidValue(field, path, "must not start with '..'")]
    : []),
];

const keys = (source: Json, field: string): StatusCause[] =>
  validateItems(source, 'items', field, (item, here) => [
    ...nonEmpty(`${here}.key`, item.key),
    ...nonEmpty(`${here}.path`, item.path),
    ...localPath(textOf(item.path), `${here}.path`),
    ...mode(item, 'mode', here),
  ]);

const files =
  (name: string) =>
  (source: Json, field: string): StatusCause[] => [
    ...nonEmpty(`${field}.${name}`, source[name]),
    ...mode(source, 'defaultMode', field),
    ...keys(source, field),
  ];

const claim = (source: Json, field: string): StatusCause[] => nonEmpty(`${field}.claimName`, source.claimName);

const driver = (source: Json, field: string): StatusCause[] => {
  const name = textOf(source.driver);
  const here = `${field}.driver`;
  return [...nonEmpty(here, name), ...invalidFor(here, name, nameErrors(name.toLowerCase(), 'subdomain'))];
};

type Validate = (source: Json, field: string) => StatusCause[];

/** Types of volumes in the order in which they are checked; the rest of each is checked only where mistakes are common. */
const TYPES: Readonly<Record<string, Validate | undefined>> = {
  emptyDir: undefined,
  hostPath,
  gitRepo: undefined,
  secret: files('secretName'),
  nfs: undefined,
  iscsi: undefined,
  persistentVolumeClaim: claim,
  downwardAPI: undefined,
  configMap: files('name'),
  projected: undefined,
  csi: driver,
  ephemeral: undefined,
};

const sourceCauses = (volume: Json, field: string): StatusCause[] =>
  Object.entries(TYPES)
    .filter(([type]) => isRecord(volume[type]))
    .flatMap(([type, validate], index) => {
      const here = `${field}.${type}`;
      if (index > 0) return [forbiddenField(here, 'may not specify more than 1 volume type')];
      const source = volume[type];
      return isRecord(source) ? (validate?.(source, here) ?? []) : [];
    });

export const validateVolumes = (spec: Json, field: string): StatusCause[] => {
  const names = new Set<string>();
  return validateItems(spec, 'volumes', field, (volume, here) => {
    const name = textOf(volume.name);
    const causes = [...sourceCauses(volume, here), ...labelCauses(name, `${here}.name`)];
    if (names.has(name)) causes.push(duplicateValue(`${here}.name`, name));
    if (causes.length === 0) names.add(name);
    return causes;
  });
};

const PROPAGATION = ['Bidirectional', 'HostToContainer', 'None'];

/** How a volume is mounted. The API server names the list, not the mount, in these. */
const mountCauses = (container: Json, mount: Json, mounted: string, list: string): StatusCause[] => {
  const causes: StatusCause[] = [];
  const subPath = textOf(mount.subPath);
  const expression = textOf(mount.subPathExpr);
  if (subPath !== '') causes.push(...descendingPath(subPath, `${list}.subPath`));
  if (subPath !== '' && expression !== '')
    causes.push(invalidValue(`${mounted}.subPathExpr`, expression, 'subPathExpr and subPath are mutually exclusive'));
  if (expression !== '') causes.push(...descendingPath(expression, `${list}.subPathExpr`));
  const propagation = textOf(mount.mountPropagation);
  const field = `${list}.mountPropagation`;
  if (propagation !== '') causes.push(...oneOf(field, propagation, PROPAGATION));
  if (propagation === 'Bidirectional' && at(container, 'securityContext', 'privileged') !== true)
    causes.push(forbiddenField(field, 'Bidirectional mount propagation is available only to privileged containers'));
  return causes;
};

export const validateMounts = (container: Json, spec: Json, here: string): StatusCause[] => {
  const places = new Set<string>();
  return validateItems(container, 'volumeMounts', here, (mount, field) => {
    const name = textOf(mount.name);
    const place = textOf(mount.mountPath);
    const causes = nonEmpty(`${field}.name`, name);
    if (!arrayOf(spec.volumes).some((volume) => at(volume, 'name') === name))
      causes.push({
        reason: 'FieldValueNotFound',
        message: `Not found: ${JSON.stringify(name)}`,
        field: `${field}.name`,
      });
    causes.push(...nonEmpty(`${field}.mountPath`, place));
    if (places.has(place)) causes.push(invalidValue(`${field}.mountPath`, place, 'must be unique'));
    places.add(place);
    return [...causes, ...mountCauses(container, mount, field, `${here}.volumeMounts`)];
  });
};
