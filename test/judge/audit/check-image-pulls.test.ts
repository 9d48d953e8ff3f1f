import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AuditRecord } from './audit-record.ts';
import { checkImagePulls, isPullCall } from './check-image-pulls.ts';

const USER = 'system:serviceaccount:edge:edgeset-manager';
let version = 0;

const record = (verb: AuditRecord['verb'], resource: string, response: object, request: object = {}): AuditRecord => ({
  receivedAt: 0,
  answeredAt: 0,
  user: USER,
  userAgent: '',
  verb,
  group: '',
  resource,
  namespace: 'edge',
  name: '',
  code: 200,
  request,
  response,
});
const meta = (uid: string, more: object = {}) => ({ uid, resourceVersion: String(++version), ...more });

const pullPod = (uid: string, imageID = '', controller = true, name = uid) => ({
  metadata: meta(uid, {
    name,
    labels: { 'edgeset.io/prefetch': 'd1' },
    annotations: { 'edgeset.io/prefetch-revision': 'b' },
    ownerReferences: [{ kind: 'Pod', uid: 'p1', controller }],
  }),
  status: { containerStatuses: [{ imageID }] },
});
const created = (uid: string, controller?: boolean, name?: string): AuditRecord =>
  record('create', 'pods', pullPod(uid, '', controller, name));
const pulled = (uid: string): AuditRecord => ({
  ...record('patch', 'pods/status', pullPod(uid, 'sha256:1')),
  user: 'system:node:n1',
});
const removed = (uid: string, preconditions: object = { uid }): AuditRecord =>
  record('delete', 'pods', pullPod(uid), { preconditions });

const report = (
  reason: string,
  message: string,
  more: { announced?: string; conditions?: object[]; metadata?: object } = {},
) =>
  record(
    'patch',
    'pods/status',
    {
      metadata: meta('p1'),
      status: { conditions: [{ type: 'PodNeedUpgrade', message: more.announced ?? 'controllerrevision: b' }] },
    },
    {
      metadata: more.metadata ?? { uid: 'p1', resourceVersion: '1' },
      status: { conditions: [{ type: 'PodImageReady', reason, message }, ...(more.conditions ?? [])] },
    },
  );
const success = (more?: Parameters<typeof report>[2]): AuditRecord =>
  report('PullImageSuccess', 'controllerrevision: b', more);

const verdict = (make: () => AuditRecord[]): string[] => checkImagePulls(make(), (user) => user === USER);

describe('checkImagePulls', () => {
  it('accepts a correct pull', () => {
    const all = (): AuditRecord[] => [created('u1'), pulled('u1'), success(), removed('u1')];
    assert.deepEqual(verdict(all), []);
    assert.ok(all().every(isPullCall));
    assert.deepEqual(
      verdict(() => [
        created('u1'),
        report('PullImageFail', 'controllerrevision: b; not found'),
        removed('u1'),
        created('u2'),
      ]),
      [],
    );
  });

  it('knows that a pod is gone when another one has its name', () => {
    assert.deepEqual(
      verdict(() => [created('u1', true, 'pull'), created('u2', true, 'pull')]),
      [],
    );
  });

  const wrong: [string, RegExp, () => AuditRecord[]][] = [
    ['a second pull pod', /for the same pod and revision/, () => [created('u1'), created('u2')]],
    ['one that can be adopted', /can adopt/, () => [created('u1', false)]],
    ['a delete by name alone', /without a uid/, () => [created('u1'), removed('u1', {})]],
    ['success of what is not there', /nothing was pulled/, () => [created('u1'), success()]],
    [
      'success of a revision that is not announced',
      /while controllerrevision: c is announced/,
      () => [created('u1'), pulled('u1'), success({ announced: 'controllerrevision: c' })],
    ],
    [
      'a patch of the whole array',
      /more than one condition/,
      () => [created('u1'), pulled('u1'), success({ conditions: [{ type: 'Ready' }] })],
    ],
    [
      'a patch of any pod of that name',
      /uid and version/,
      () => [created('u1'), pulled('u1'), success({ metadata: {} })],
    ],
    ['a failure without its cause', /without its cause/, () => [report('PullImageFail', 'controllerrevision: b')]],
  ];
  for (const [what, expected, make] of wrong)
    it(`finds ${what}`, () => {
      const found = verdict(make);
      assert.equal(found.length, 1);
      assert.match(found[0] ?? '', expected);
    });
});
