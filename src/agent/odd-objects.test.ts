import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { annotation, type DaemonRollout } from '../words/index.ts';
import { nextStep } from './decisions/index.ts';
import { checkOwner, checkPod, isTargetOf } from './executor/preconditions.ts';
import { isRefusal } from './executor/refusal.ts';
import { updateOf } from './executor/update-view.ts';
import { sanitizePod } from './pods/sanitize.ts';
import { announcementOf, daemonSetOf, imageBlockOf } from './updates/index.ts';
import { nextRecord } from './updates/record.ts';
import { releaseNotesOf } from './updates/release-notes.ts';
import { termsOf } from './updates/terms-watch.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');

/** Texts as people and programs put them into free fields: an API server checks few of them. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 10 }).map((part) => part.repeat(2_000)),
  fc.json({ maxDepth: 6 }),
  fc.constantFrom(
    '',
    'null',
    '[]',
    '{"spec":null}',
    '{"spec":{"containers":[null,{"env":[null]}]}}',
    '['.repeat(50_000),
  ),
  fc.constantFrom('__proto__', 'constructor', 'toString', 'controllerrevision: r2', 'controllerrevision: r2; \ud800'),
  fc.constantFrom('9223372036854775807', '-1', '1e308', 'NaN', 'Infinity'),
);
const time = fc.constantFrom(
  '2026-11-21T12:00:00Z',
  '0001-01-01T00:00:00Z',
  '9999-12-31T23:59:59Z',
  '2026-11-21T12:00:00.123456Z',
  '2026-11-21T12:00:00+23:59',
  '2016-12-31T23:59:60Z',
);
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const listOf = <T>(value: fc.Arbitrary<T>) => optional(fc.array(value, { maxLength: 3 }));
const mapOf = (keys: readonly string[]) =>
  optional(fc.dictionary(fc.oneof(fc.constantFrom(...keys), text), fc.oneof(text, time), { maxKeys: 4 }));

const revision = fc.constantFrom('r1', 'r2', '');
const message = fc.oneof(
  revision.map((hash) => `controllerrevision: ${hash}`),
  fc.tuple(revision, text).map(([hash, rest]) => `controllerrevision: ${hash}; ${rest}`),
  text,
);
const condition = fc.record(
  {
    type: fc.constantFrom('PodNeedUpgrade', 'PodImageReady', 'UpgradeApproved', 'Ready', 'PodScheduled', ''),
    status: fc.oneof(fc.constantFrom('True', 'False', 'Unknown', ''), text),
    reason: fc.oneof(fc.constantFrom('NewRevision', 'UpToDate', 'Halted', 'Paused', 'PullingImage'), text),
    message,
    lastTransitionTime: time,
    lastProbeTime: fc.option(time),
  },
  { requiredKeys: ['type', 'status'] },
);
const state = fc.record(
  {
    waiting: fc.record(
      { reason: fc.oneof(fc.constant('CrashLoopBackOff'), text), message: text },
      { requiredKeys: [] },
    ),
    running: fc.record({ startedAt: time }, { requiredKeys: [] }),
    terminated: fc.record({ exitCode: fc.integer(), reason: text, startedAt: time, finishedAt: time, message: text }),
  },
  { requiredKeys: [] },
);
const containerStatus = fc.record(
  { name: text, ready: fc.boolean(), restartCount: fc.nat(), image: text, imageID: text, state, lastState: state },
  { requiredKeys: ['name', 'ready', 'restartCount', 'image', 'imageID'] },
);
const container = fc.record(
  { name: text, image: text, env: fc.array(fc.record({ name: text, value: text }, { requiredKeys: ['name'] })) },
  { requiredKeys: ['name'] },
);
const reference = fc.record(
  {
    apiVersion: fc.oneof(fc.constantFrom('apps/v1', 'apps.kruise.io/v1beta1'), text),
    kind: fc.oneof(fc.constant('DaemonSet'), text),
    name: fc.oneof(fc.constant('app'), text),
    uid: fc.constantFrom('u1', 'u2'),
    controller: fc.boolean(),
  },
  { requiredKeys: ['apiVersion', 'kind', 'name', 'uid'] },
);
/** Without these, few objects would get past the first look. */
const owned = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'app', uid: 'u1', controller: true };
const announced = fc
  .constantFrom('NewRevision', 'Halted', 'UpToDate', 'Paused')
  .map((reason) => ({ type: 'PodNeedUpgrade', status: 'True', reason, message: 'controllerrevision: r2' }));

const metadata = fc.record(
  {
    name: fc.constant('app-1'),
    namespace: fc.constant('default'),
    uid: fc.constantFrom('p1', 'p2'),
    resourceVersion: fc.constantFrom('1', '99999999999999999999', 'x'),
    creationTimestamp: time,
    deletionTimestamp: time,
    labels: mapOf(['controller-revision-hash', 'lifecycle.apps.kruise.io/state']),
    annotations: mapOf([
      'kubectl.kubernetes.io/last-applied-configuration',
      'apps.kruise.io/inplace-update-state',
      ...Object.values(annotation),
    ]),
    ownerReferences: fc.oneof(
      { weight: 4, arbitrary: fc.constant([owned]) },
      { weight: 1, arbitrary: listOf(reference) },
    ),
  },
  { requiredKeys: ['name', 'namespace', 'uid'] },
);
const pod = fc.record(
  {
    metadata,
    spec: fc.record(
      {
        nodeName: fc.constantFrom('node-1', 'node-2'),
        containers: fc.array(container, { maxLength: 3 }),
        initContainers: listOf(container),
        readinessGates: listOf(fc.record({ conditionType: fc.constantFrom('InPlaceUpdateReady', 'KruisePodReady') })),
      },
      { requiredKeys: ['containers'] },
    ),
    status: fc.record(
      {
        phase: fc.constantFrom('Running', 'Failed', 'Pending', 'Unknown'),
        reason: text,
        message: text,
        conditions: fc.oneof(
          listOf(condition),
          fc.tuple(announced, fc.array(condition, { maxLength: 3 })).map(([first, rest]) => [first, ...rest]),
        ),
        containerStatuses: listOf(containerStatus),
        initContainerStatuses: listOf(containerStatus),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: ['metadata', 'spec'] },
) as unknown as fc.Arbitrary<Pod>;
const terms = fc.record(
  {
    [annotation.strategy]: fc.oneof({ weight: 4, arbitrary: fc.constant('ota') }, text),
    [annotation.otaDeadline]: fc.oneof(time, text),
    [annotation.otaDeadlineSpread]: fc.oneof(fc.constantFrom('1h', '8760h', '0s'), text),
    [annotation.releaseNotes]: text,
  },
  { requiredKeys: [] },
);
const daemonSet = fc.record(
  {
    metadata: fc.tuple(metadata, terms).map(([found, annotations]) => ({ ...found, uid: 'u1', annotations })),
    spec: fc.record({ updateStrategy: fc.record({ type: fc.constantFrom('OnDelete', 'RollingUpdate', '') }) }),
    status: optional(fc.record({ observedGeneration: fc.integer() })),
  },
  { requiredKeys: ['metadata', 'spec'] },
) as unknown as fc.Arbitrary<DaemonSet>;

describe('objects that an API server may send, however odd', () => {
  it('can all be computed: for an owner, for the next step, and for the check before a write', () => {
    let shown = 0;
    fc.assert(
      fc.property(fc.array(pod, { minLength: 1, maxLength: 2 }), daemonSet, optional(condition), (found, set, told) => {
        const rollout = { status: { conditions: told ? [told] : [] } } as unknown as DaemonRollout;
        const pods = found.map(sanitizePod);
        releaseNotesOf(set);
        for (const each of pods) {
          const owner = daemonSetOf(each);
          checkPod(each, 'node-1', { images: true });
          const candidate = checkPod(each, 'node-1', { images: false });
          if (!owner) continue;
          const read = termsOf(set, owner);
          if (!isRefusal(candidate)) checkOwner(candidate, read, rollout);
          isTargetOf(set, rollout, 'r2');
          const record = nextRecord(owner, pods, undefined);
          const next = record && nextRecord(owner, [each], { ...record, terms: read });
          if (!next) continue;
          shown += 1;
          const deadline = read.deadline && { ...read.deadline, share: 0.999 };
          const step = nextStep({
            now: NOW,
            timeZone: 'Pacific/Apia',
            connected: true,
            announced: announcementOf(each) ?? next.announced,
            imageBlocks: imageBlockOf(each, next.announced.revision),
            decision: undefined,
            deadline,
            safeConfigured: true,
          });
          JSON.stringify(
            updateOf({
              tracked: { record: next, pod: each },
              decision: undefined,
              step,
              lastRefusal: undefined,
              deadline,
              choices: { approve: true, postpone: true, reject: true, tonight: null },
              sizes: { of: () => null },
              now: NOW,
            }),
          );
        }
      }),
      { numRuns: 1_000 },
    );
    assert.ok(shown > 100, `only ${shown} of them were updates`);
  });
});
