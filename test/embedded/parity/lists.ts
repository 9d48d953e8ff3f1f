import { daemonSet } from './fixtures.ts';
import type { Command } from './servers.ts';

const configMap = (name: string, more = ''): string =>
  `{apiVersion: v1, kind: ConfigMap, metadata: {name: ${name}}, data: {a: b}${more}}`;
const list = (kind: string, ...items: readonly string[]): string =>
  `{apiVersion: v1, kind: ${kind}, items: [${items.join(', ')}]}\n`;
const documents = (...each: readonly string[]): string => each.map((text) => `---\n${text}\n`).join('');

const unserved = (apiVersion: string, kind: string): string =>
  `{apiVersion: ${apiVersion}, kind: ${kind}, metadata: {name: x}, spec: {}}`;
const MONITOR = unserved('monitoring.coreos.com/v1', 'ServiceMonitor');

const two = list('List', configMap('l1'), configMap('l2'));

/**
 * Files with several objects. kubectl finds no Lists and no unknown kinds in /openapi/v3, and asks for /openapi/v2 in
 * protobuf.
 */
export const listCommands: readonly Command[] = [
  ['apply -f -', two],
  ['apply -f -', two],
  ['replace -f -', two],
  ['delete -f -', two],
  ['create -f -', two],
  ['create -f -', two],
  ['apply -f -', list('ConfigMapList', configMap('l3'))],
  ['apply -f - --server-side', list('List', configMap('l4'), configMap('l5'))],
  ['apply -f - --dry-run=server', list('List', configMap('l6'))],
  ['apply -f -', list('List')],
  ['apply -f -', list('List', configMap('l7'), MONITOR)],
  ['apply -f -', list('List', configMap('l8', ', nope: 1'))],
  ['apply -f - --validate=warn', list('List', configMap('l8', ', nope: 1'))],
  ['apply -f - --validate=false', list('List', configMap('l9', ', nope: 1'))],
  [
    'apply -f -',
    list('List', '{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: d, labels: []}, spec: {template: 1, x: 2}}'),
  ],
  ['apply -f -', documents(configMap('m1'), MONITOR, configMap('m2'))],
  ['create -f -', documents(MONITOR, configMap('m3'))],
  ['delete -f -', documents(MONITOR, configMap('m3'))],
  ['replace -f -', MONITOR],
  ['diff -f -', MONITOR],
  ['apply -f - --server-side', MONITOR],
  ['apply -f - --dry-run=server', MONITOR],
  ['apply -f - --dry-run=client', MONITOR],
  ['apply -f - --validate=warn', MONITOR],
  ['apply -f -', unserved('extensions/v1beta1', 'DaemonSet')],
  ['apply -f -', unserved('apps/v1beta2', 'DaemonSet')],
  ['apply -f -', unserved('apps/v1', 'Daemonset')],
  ['apply -f -', unserved('v1', 'DaemonSet')],
  ['apply -f -', documents('{apiVersion: v1, metadata: {name: x}}')],
  ['apply -f -', documents('{kind: ConfigMap, metadata: {name: x}}')],
  ['apply -f -', documents(daemonSet('in-file'), configMap('m4'))],
  'get cm l1 l2 l3 l4 l5 l6 l7 l8 l9 m1 m2 m3 m4 -o name --ignore-not-found',
];
