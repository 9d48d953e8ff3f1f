import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeObject } from './protobuf.ts';

const varint = (value: number): number[] => (value < 128 ? [value] : [(value & 127) | 128, ...varint(value >> 7)]);
const bytes = (number: number, content: readonly number[] | string): number[] => {
  const body = typeof content === 'string' ? [...Buffer.from(content)] : content;
  return [...varint((number << 3) | 2), ...varint(body.length), ...body];
};
const number = (field: number, value: number): number[] => [...varint(field << 3), ...varint(value)];

const envelope = (apiVersion: string, kind: string, raw: readonly number[]): Uint8Array =>
  Buffer.from([...Buffer.from('k8s\0'), ...bytes(1, [...bytes(1, apiVersion), ...bytes(2, kind)]), ...bytes(2, raw)]);

describe('protobuf bodies', () => {
  it('are decoded', () => {
    const entry = (key: string, value: string) => [...bytes(1, key), ...bytes(2, value)];
    const metadata = [
      ...bytes(1, 'settings'),
      ...bytes(8, []),
      ...bytes(11, entry('app', 'x')),
      ...bytes(11, entry('b', 'y')),
    ];
    const raw = [...bytes(1, metadata), ...bytes(2, entry('key', 'value'))];
    assert.deepEqual(decodeObject(envelope('v1', 'ConfigMap', raw)), {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'settings', labels: { app: 'x', b: 'y' } },
      data: { key: 'value' },
    });
  });

  it('may have numbers, lists, quantities, IntOrStrings and embedded messages', () => {
    const quantity = (text: string) => bytes(1, text);
    const resources = bytes(1, [...bytes(1, 'cpu'), ...bytes(2, quantity('100m'))]);
    const probe = [
      ...bytes(1, bytes(2, [...bytes(1, '/ready'), ...bytes(2, [...number(1, 0), ...number(2, 80)])])),
      ...number(4, 10),
    ];
    const container = [
      ...bytes(1, 'app'),
      ...bytes(3, 'sh'),
      ...bytes(3, '-c'),
      ...bytes(8, resources),
      ...bytes(11, probe),
    ];
    const volume = [...bytes(1, 'host'), ...bytes(2, bytes(1, bytes(1, '/var')))];
    const spec = [...bytes(1, volume), ...bytes(2, container), ...number(4, 30)];
    const { spec: decoded } = decodeObject(envelope('v1', 'Pod', bytes(2, spec)));
    assert.deepEqual(decoded, {
      volumes: [{ name: 'host', hostPath: { path: '/var' } }],
      containers: [
        {
          name: 'app',
          command: ['sh', '-c'],
          resources: { limits: { cpu: '100m' } },
          readinessProbe: { httpGet: { path: '/ready', port: 80 }, periodSeconds: 10 },
        },
      ],
      terminationGracePeriodSeconds: 30,
    });
  });

  it('are rejected if truncated, of another protocol or of an unknown kind', () => {
    const whole = envelope('v1', 'ConfigMap', bytes(1, bytes(1, 'x')));
    assert.throws(() => decodeObject(whole.subarray(0, -1)), RangeError);
    assert.throws(() => decodeObject(Buffer.from('{"a":1}')), RangeError);
    assert.throws(() => decodeObject(envelope('v1', 'Nothing', [])), RangeError);
  });
});
