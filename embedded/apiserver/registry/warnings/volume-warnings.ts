import { arrayOf, at, isRecord, type Json, recordOf, textOf } from '../../json.ts';
import { isWholeNumber } from '../strategies/quantity.ts';
import { fractional } from './container-warnings.ts';

const OLD_VOLUMES: readonly (readonly [type: string, message: string])[] = [
  ['photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'deprecated in v1.11, and disabled by default in v1.33+'],
  ['scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  ['quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'deprecated in v1.28, non-functional in v1.31+'],
];

/** A path in a volume, and what writes it. */
interface Written {
  readonly path: string;
  readonly source: string;
}

const shown = ({ path, source }: Written): string =>
  source === '' ? JSON.stringify(path) : `${JSON.stringify(path)} (${source})`;

const pathsOf = (list: unknown, source: string): readonly Written[] =>
  arrayOf(list).map((each) => ({ path: textOf(at(each, 'path')), source }));

/** Each path that is, contains or is in an earlier one. */
const overlaps = (written: readonly Written[]): string[] => {
  const trimmed = written.map(({ path, source }) => ({ path: path.replace(/(?<!\/)\/+$/, ''), source }));
  return trimmed.flatMap((one, index) =>
    trimmed
      .slice(0, index)
      .filter(
        (other) =>
          one.path !== '' &&
          other.path !== '' &&
          (`${one.path}/`.startsWith(`${other.path}/`) || `${other.path}/`.startsWith(`${one.path}/`)),
      )
      .map((other) => `${shown(one)} with ${shown(other)}`),
  );
};

const quoted = (name: unknown): string => JSON.stringify(textOf(name));

const projectedPaths = (source: Json): readonly Written[] => {
  const { configMap, secret, downwardAPI, serviceAccountToken } = source;
  if (isRecord(configMap) && configMap.items !== undefined)
    return pathsOf(configMap.items, `ConfigMap ${quoted(configMap.name)}`);
  if (isRecord(secret) && secret.items !== undefined) return pathsOf(secret.items, `Secret ${quoted(secret.name)}`);
  if (isRecord(downwardAPI) && downwardAPI.items !== undefined) return pathsOf(downwardAPI.items, 'DownwardAPI');
  return isRecord(serviceAccountToken) ? pathsOf([serviceAccountToken], 'ServiceAccountToken') : [];
};

const overlapsOf = (volume: Json): string[] => {
  const { configMap, secret, downwardAPI, projected } = volume;
  const said = (what: string, found: readonly string[]): string[] =>
    found.map((each) => `volume ${quoted(volume.name)} (${what}): overlapping paths: ${each}`);
  const sources = arrayOf(at(projected, 'sources')).map(recordOf);
  return [
    ...said(`ConfigMap ${quoted(at(configMap, 'name'))}`, overlaps(pathsOf(at(configMap, 'items'), ''))),
    ...said(`Secret ${quoted(at(secret, 'secretName'))}`, overlaps(pathsOf(at(secret, 'items'), ''))),
    ...said('DownwardAPI', overlaps(pathsOf(at(downwardAPI, 'items'), ''))),
    ...sources.flatMap((source) =>
      Object.keys(source).length === 0 ? [`volume ${quoted(volume.name)} (Projected) has no sources provided`] : [],
    ),
    ...said('Projected', overlaps(sources.flatMap(projectedPaths))),
  ];
};

const CLAIMED = ['ephemeral', 'volumeClaimTemplate', 'spec', 'resources', 'requests'] as const;

/** Warnings about the volumes of a pod. */
export const volumeWarnings = (spec: Json, here: string): string[] => {
  const volumes = arrayOf(spec.volumes).map(recordOf);
  const old = volumes.flatMap((volume, index) => [
    ...OLD_VOLUMES.filter(([type]) => isRecord(volume[type])).map(
      ([type, message]) => `${here}.volumes[${index}].${type}: ${message}`,
    ),
    ...(isWholeNumber(at(volume, ...CLAIMED, 'storage'))
      ? []
      : [fractional(`${here}.volumes[${index}].${CLAIMED.join('.')}`, 'storage', at(volume, ...CLAIMED, 'storage'))]),
  ]);
  return [...old, ...volumes.flatMap(overlapsOf)];
};
