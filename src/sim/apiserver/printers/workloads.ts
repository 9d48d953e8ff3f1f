import type { StoredObject } from '../../types.ts';
import { arrayOf, at, recordOf, textOf } from '../value/index.ts';
import { containerImages, containerNames, labelsText, NONE, number, selectorText } from './cells.ts';
import { type Column, count, nameColumn, text, wide } from './column.ts';
import { ageOf } from './duration.ts';

export const ageColumn: Column = text('Age', (object, now) => ageOf(object.metadata.creationTimestamp, now));

const template: readonly Column[] = [
  wide('Containers', (object) => containerNames(at(object, 'spec', 'template', 'spec'))),
  wide('Images', (object) => containerImages(at(object, 'spec', 'template', 'spec'))),
  wide('Selector', (object) => selectorText(at(object, 'spec', 'selector'))),
];

export const daemonSetColumns: readonly Column[] = [
  nameColumn,
  count('Desired', number('status', 'desiredNumberScheduled')),
  count('Current', number('status', 'currentNumberScheduled')),
  count('Ready', number('status', 'numberReady')),
  count('Up-to-date', number('status', 'updatedNumberScheduled')),
  count('Available', number('status', 'numberAvailable')),
  text('Node Selector', (object) => labelsText(at(object, 'spec', 'template', 'spec', 'nodeSelector'))),
  ageColumn,
  ...template,
];

const desired = number('spec', 'replicas');

export const deploymentColumns: readonly Column[] = [
  nameColumn,
  text('Ready', (object) => `${number('status', 'readyReplicas')(object)}/${desired(object)}`),
  count('Up-to-date', number('status', 'updatedReplicas')),
  count('Available', number('status', 'availableReplicas')),
  ageColumn,
  ...template,
];

export const replicaSetColumns: readonly Column[] = [
  nameColumn,
  count('Desired', desired),
  count('Current', number('status', 'replicas')),
  count('Ready', number('status', 'readyReplicas')),
  ageColumn,
  ...template,
];

const controllerOf = (object: StoredObject): string => {
  const owner = object.metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (!owner) return NONE;
  const [group = '', version] = owner.apiVersion.split('/');
  return `${owner.kind.toLowerCase()}${version === undefined ? '' : `.${group}`}/${owner.name}`;
};

export const revisionColumns: readonly Column[] = [
  nameColumn,
  text('Controller', controllerOf),
  count('Revision', number('revision')),
  ageColumn,
];

const portText = (port: unknown): string => {
  const node = Number(at(port, 'nodePort') ?? 0);
  return `${String(at(port, 'port'))}${node > 0 ? `:${node}` : ''}/${textOf(at(port, 'protocol'))}`;
};

export const serviceColumns: readonly Column[] = [
  nameColumn,
  text('Type', (object) => textOf(at(object, 'spec', 'type'))),
  text('Cluster-IP', (object) => textOf(at(object, 'spec', 'clusterIP')) || NONE),
  text('External-IP', () => NONE),
  text(
    'Port(s)',
    (object) =>
      arrayOf(at(object, 'spec', 'ports'))
        .map(portText)
        .join(',') || NONE,
  ),
  ageColumn,
  wide('Selector', (object) => labelsText(recordOf(at(object, 'spec', 'selector')))),
];
