import type { StoredObject } from '../../types.ts';
import { arrayOf, at, recordOf, textOf } from '../value/index.ts';
import { conditionOf, field, NONE, UNKNOWN } from './cells.ts';
import { type Column, nameColumn, text, wide } from './column.ts';
import { ageOf } from './duration.ts';

const statusText = (node: StoredObject): string => {
  const { status } = conditionOf(node, 'Ready');
  const words = [status === undefined ? 'Unknown' : status === 'True' ? 'Ready' : 'NotReady'];
  if (at(node, 'spec', 'unschedulable') === true) words.push('SchedulingDisabled');
  return words.join(',');
};

const ROLE = 'node-role.kubernetes.io/';

const rolesText = (node: StoredObject): string => {
  const labels = recordOf(node.metadata.labels);
  const roles = Object.entries(labels).flatMap(([key, value]) => {
    if (key.startsWith(ROLE) && key.length > ROLE.length) return [key.slice(ROLE.length)];
    return key === 'kubernetes.io/role' && value !== '' ? [String(value)] : [];
  });
  return roles.length === 0 ? NONE : [...new Set(roles)].toSorted().join(',');
};

const address =
  (type: string) =>
  (node: StoredObject): string => {
    const found = arrayOf(at(node, 'status', 'addresses')).find((each) => at(each, 'type') === type);
    return textOf(at(found, 'address')) || NONE;
  };

const info = (name: string): ((node: StoredObject) => string) => field(UNKNOWN, 'status', 'nodeInfo', name);

export const nodeColumns: readonly Column[] = [
  nameColumn,
  text('Status', statusText),
  text('Roles', rolesText),
  text('Age', (node, now) => ageOf(node.metadata.creationTimestamp, now)),
  text('Version', field('', 'status', 'nodeInfo', 'kubeletVersion')),
  wide('Internal-IP', address('InternalIP')),
  wide('External-IP', address('ExternalIP')),
  wide('OS-Image', info('osImage')),
  wide('Kernel-Version', info('kernelVersion')),
  wide('Container-Runtime', info('containerRuntimeVersion')),
];
