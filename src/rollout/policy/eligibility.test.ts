import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeSelectorRequirement, NodeSelectorTerm, PodSpec, Toleration } from 'kubernetes-types/core/v1.d.ts';
import type { NodeInfo, Taint } from '../facts/node.ts';
import {
  isEligible,
  nodeShouldRunDaemonPod,
  schedulingConstraints,
  tooManyNeeds,
  whyNotEligible,
} from './eligibility.ts';
import { formatPolicyError } from './values.ts';

const node = (over: Partial<NodeInfo> = {}): NodeInfo => ({
  name: 'n1',
  uid: '',
  labels: { zone: 'north', slots: '8' },
  taints: [],
  ready: true,
  readyChangedAt: 0,
  ...over,
});
const spec = (over: Partial<PodSpec> = {}): PodSpec => ({ containers: [], ...over });
const affinity = (...nodeSelectorTerms: NodeSelectorTerm[]): PodSpec =>
  spec({ affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } });
const labels = (...matchExpressions: NodeSelectorRequirement[]): NodeSelectorTerm => ({ matchExpressions });
const name = (operator: string, ...values: string[]): NodeSelectorTerm => ({
  matchFields: [{ key: 'metadata.name', operator, values }],
});

const runs = { shouldRun: true, shouldContinueRunning: true };
const stays = { shouldRun: false, shouldContinueRunning: true };
const goes = { shouldRun: false, shouldContinueRunning: false };

const inNorth = { key: 'zone', operator: 'In', values: ['north'] };
const inSouth = { key: 'zone', operator: 'In', values: ['south'] };

describe('the nodes of a DaemonSet', () => {
  const cases: [name: string, spec: PodSpec, fits: boolean][] = [
    ['anywhere by default', spec(), true],
    ['on the node of spec.nodeName', spec({ nodeName: 'n1' }), true],
    ['on no other node than that of spec.nodeName', spec({ nodeName: 'n2' }), false],
    ['where nodeSelector matches', spec({ nodeSelector: { zone: 'north' } }), true],
    ['not where one label of nodeSelector differs', spec({ nodeSelector: { zone: 'north', slots: '9' } }), false],
    ['not where a label of nodeSelector is absent, even if empty', spec({ nodeSelector: { absent: '' } }), false],
    ['not where nodeSelector asks for what every object inherits', spec({ nodeSelector: { constructor: '' } }), false],
    ['where the affinity matches', affinity(labels(inNorth)), true],
    ['not where the affinity does not match', affinity(labels(inSouth)), false],
    ['where any term matches', affinity(labels(inSouth), labels(inNorth)), true],
    ['not where a term matches in part', affinity(labels(inNorth, { key: 'absent', operator: 'Exists' })), false],
    ['nowhere without terms', affinity(), false],
    ['nowhere by an empty term', affinity({}), false],
    ['nowhere by a term of empty lists', affinity({ matchExpressions: [], matchFields: [] }), false],
    ['by other terms than an empty one', affinity({}, labels(inNorth)), true],
    [
      'where nodeSelector and affinity both match',
      { ...affinity(labels(inNorth)), nodeSelector: { slots: '8' } },
      true,
    ],
    ['not where only the affinity matches', { ...affinity(labels(inNorth)), nodeSelector: { slots: '9' } }, false],
    ['where Gt holds', affinity(labels({ key: 'slots', operator: 'Gt', values: ['7'] })), true],
    ['not where Gt is equal', affinity(labels({ key: 'slots', operator: 'Gt', values: ['8'] })), false],
    ['where Lt holds', affinity(labels({ key: 'slots', operator: 'Lt', values: ['10'] })), true],
    ['not where Lt meets text', affinity(labels({ key: 'zone', operator: 'Lt', values: ['10'] })), false],
    ['where NotIn meets an absent label', affinity(labels({ key: 'absent', operator: 'NotIn', values: ['x'] })), true],
    ['where DoesNotExist holds', affinity(labels({ key: 'absent', operator: 'DoesNotExist' })), true],
    ['by name', affinity(name('In', 'n1')), true],
    ['not by another name', affinity(name('In', 'n2')), false],
    ['where the name is not excluded', affinity(name('NotIn', 'n2')), true],
    ['not where the name is excluded', affinity(name('NotIn', 'n1')), false],
    ['not where name and labels do not both match', affinity({ ...labels(inSouth), ...name('In', 'n1') }), false],
    ['where name and labels both match', affinity({ ...labels(inNorth), ...name('In', 'n1') }), true],
    ['nowhere by a field with two values', affinity(name('In', 'n1', 'n2')), false],
    ['nowhere by a field with another operator', affinity(name('Exists')), false],
    ['nowhere by an unknown operator', affinity(labels({ key: 'zone', operator: 'Is', values: ['north'] })), false],
    ['nowhere by Gt of text', affinity(labels({ key: 'slots', operator: 'Gt', values: ['few'] })), false],
    ['nowhere by In without values', affinity(labels({ key: 'zone', operator: 'In', values: [] })), false],
    [
      'by another term than one that cannot be read',
      affinity(labels({ key: 'zone', operator: 'NotIn', values: ['not a label'] }), labels(inNorth)),
      true,
    ],
    [
      'nowhere by a value that no label can have, even excluded',
      affinity(labels({ key: 'zone', operator: 'NotIn', values: ['not a label'] })),
      false,
    ],
    [
      'anywhere by a preference',
      spec({
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: labels(inSouth) }],
          },
        },
      }),
      true,
    ],
  ];
  for (const [title, wanted, fits] of cases)
    it(title, () =>
      assert.deepEqual(nodeShouldRunDaemonPod(schedulingConstraints(wanted), node()), fits ? runs : goes),
    );
});

describe('a template that asks for more than can be compared with every node', () => {
  const many = Array.from({ length: 1001 }, (_, index) => `key-${index}`);
  for (const [what, wanted] of [
    ['labels', spec({ nodeSelector: Object.fromEntries(many.map((key) => [key, ''])) })],
    ['terms', affinity(...many.map((key) => labels({ key, operator: 'DoesNotExist' })))],
    ['names', affinity(...many.map((each) => name('NotIn', each)))],
    ['tolerations', spec({ tolerations: many.map((key) => ({ key, operator: 'Exists' })) })],
  ] as const)
    it(`as by its ${what}, keeps the pods that run and gets no more`, () => {
      const needs = schedulingConstraints(wanted);
      assert.deepEqual(nodeShouldRunDaemonPod(needs, node()), stays);
      assert.match(formatPolicyError(tooManyNeeds(needs)!), /"1001 labels, .*: give at most 1000 in nodeSelector/);
    });
});

describe('taints', () => {
  const taint = (key: string, effect: string, value = ''): Taint => ({ key, value, effect });
  const own = taint('edge', 'NoSchedule', 'yes');
  const system = (key: string, effect: string): Taint => taint(`node.kubernetes.io/${key}`, effect);
  const tolerating = (...tolerations: Toleration[]): PodSpec => spec({ tolerations });
  const onHost = spec({ hostNetwork: true });

  const cases: [name: string, spec: PodSpec, taints: Taint[], expected: typeof runs][] = [
    ['NoSchedule keeps new pods away only', spec(), [own], stays],
    ['NoExecute removes pods too', spec(), [taint('edge', 'NoExecute')], goes],
    ['the harder one of two decides', spec(), [own, taint('b', 'NoExecute')], goes],
    ['PreferNoSchedule does nothing', spec(), [taint('edge', 'PreferNoSchedule')], runs],
    ['Equal tolerates the same value', tolerating({ key: 'edge', operator: 'Equal', value: 'yes' }), [own], runs],
    ['no operator means Equal', tolerating({ key: 'edge', value: 'yes' }), [own], runs],
    [
      'Equal does not tolerate another value',
      tolerating({ key: 'edge', operator: 'Equal', value: 'no' }),
      [own],
      stays,
    ],
    ['Exists tolerates any value', tolerating({ key: 'edge', operator: 'Exists' }), [own], runs],
    ['Exists tolerates its key only', tolerating({ key: 'other', operator: 'Exists' }), [own], stays],
    ['Exists without a key tolerates all', tolerating({ operator: 'Exists' }), [own, taint('b', 'NoExecute')], runs],
    [
      'Exists without a key keeps to its effect',
      tolerating({ operator: 'Exists', effect: 'NoSchedule' }),
      [own, taint('b', 'NoExecute')],
      goes,
    ],
    [
      'an effect is tolerated by itself only',
      tolerating({ key: 'edge', operator: 'Exists', effect: 'NoExecute' }),
      [own],
      stays,
    ],
    [
      'an unknown operator tolerates nothing',
      tolerating({ key: 'edge', operator: 'Like', value: 'yes' }),
      [own],
      stays,
    ],
    [
      'tolerationSeconds does not limit toleration',
      tolerating({ key: 'edge', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 0 }),
      [taint('edge', 'NoExecute')],
      runs,
    ],
    [
      'every untolerated taint counts',
      tolerating({ key: 'edge', operator: 'Exists' }),
      [own, taint('b', 'NoSchedule')],
      stays,
    ],
    ['a cordon changes nothing', spec(), [system('unschedulable', 'NoSchedule')], runs],
    ['not-ready changes nothing', spec(), [system('not-ready', 'NoExecute')], runs],
    ['unreachable changes nothing', spec(), [system('unreachable', 'NoExecute')], runs],
    ['disk-pressure changes nothing', spec(), [system('disk-pressure', 'NoSchedule')], runs],
    ['memory-pressure changes nothing', spec(), [system('memory-pressure', 'NoSchedule')], runs],
    ['pid-pressure changes nothing', spec(), [system('pid-pressure', 'NoSchedule')], runs],
    ['not-ready is tolerated as NoExecute only', spec(), [system('not-ready', 'NoSchedule')], stays],
    ['disk-pressure is tolerated as NoSchedule only', spec(), [system('disk-pressure', 'NoExecute')], goes],
    ['network-unavailable keeps pods away', spec(), [system('network-unavailable', 'NoSchedule')], stays],
    ['but not those on the host network', onHost, [system('network-unavailable', 'NoSchedule')], runs],
    ['out-of-service removes pods', spec(), [system('out-of-service', 'NoExecute')], goes],
    ['a pod that belongs elsewhere goes whatever it tolerates', spec({ nodeName: 'n2' }), [own], goes],
  ];
  for (const [title, wanted, taints, expected] of cases)
    it(title, () =>
      assert.deepEqual(nodeShouldRunDaemonPod(schedulingConstraints(wanted), node({ taints })), expected),
    );
});

describe('whyNotEligible', () => {
  const cases: [spec: PodSpec, node: NodeInfo, expected: string | undefined][] = [
    [spec(), node(), undefined],
    [spec({ nodeName: 'n2' }), node(), 'The pod template names node n2 in spec.nodeName.'],
    [
      spec({ nodeSelector: { zone: 'south' } }),
      node(),
      "The node lacks the label zone=south that the pod template's nodeSelector requires.",
    ],
    [affinity(labels(inSouth)), node(), "The node matches no term of the pod template's required node affinity."],
    [
      spec(),
      node({ taints: [{ key: 'edge', value: 'yes', effect: 'NoSchedule' }] }),
      "The pod template does not tolerate the node's taint edge=yes:NoSchedule; a pod that runs here stays.",
    ],
    [
      spec(),
      node({
        taints: [
          { key: 'a', value: '', effect: 'NoSchedule' },
          { key: 'b', value: '', effect: 'NoExecute' },
        ],
      }),
      "The pod template does not tolerate the node's taint b:NoExecute; a pod that runs here is removed.",
    ],
  ];
  for (const [wanted, view, expected] of cases)
    it(expected ?? 'has nothing to say where a pod is created', () => {
      const needs = schedulingConstraints(wanted);
      assert.equal(whyNotEligible(needs, view), expected);
      assert.equal(isEligible(needs, view), expected === undefined);
    });

  it('does not depend on the taints that an offline node gets', () => {
    const offline = node({
      taints: [
        { key: 'node.kubernetes.io/unreachable', value: '', effect: 'NoSchedule' },
        { key: 'node.kubernetes.io/not-ready', value: '', effect: 'NoExecute' },
      ],
    });
    assert.equal(nodeShouldRunDaemonPod(schedulingConstraints(spec()), offline).shouldRun, false);
    assert.equal(isEligible(schedulingConstraints(spec()), offline), true);
    assert.equal(whyNotEligible(schedulingConstraints(spec()), offline), undefined);
  });

  it('does not depend on readiness', () =>
    assert.equal(whyNotEligible(schedulingConstraints(spec()), node({ ready: false, readyChangedAt: 5 })), undefined));
});
