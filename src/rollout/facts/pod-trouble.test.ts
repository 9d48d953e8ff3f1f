import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ContainerState, ContainerStatus, Pod } from 'kubernetes-types/core/v1.d.ts';
import { troubleOf } from './pod-trouble.ts';

const at = (minute: number, second = 0): string =>
  `2026-03-01T10:${String(minute).padStart(2, '0')}:${String(second).padStart(2, '0')}Z`;
const ms = (minute: number, second = 0): number => Date.parse(at(minute, second));

const container = (over: Partial<ContainerStatus> = {}): ContainerStatus => ({
  name: 'app',
  image: 'app:2',
  imageID: '',
  ready: false,
  restartCount: 0,
  ...over,
});
const waiting = (reason: string, message?: string): ContainerState => ({
  waiting: message === undefined ? { reason } : { reason, message },
});
const run = (from: string, to: string, over: { exitCode?: number; reason?: string; message?: string } = {}) => ({
  terminated: { exitCode: 1, reason: 'Error', startedAt: from, finishedAt: to, ...over },
});
const pod = (...containerStatuses: ContainerStatus[]): Pod => ({ status: { containerStatuses } });
const initPod = (...initContainerStatuses: ContainerStatus[]): Pod => ({ status: { initContainerStatuses } });

describe('image-pull', () => {
  for (const reason of [
    'ErrImagePull',
    'ImagePullBackOff',
    'InvalidImageName',
    'ErrImageNeverPull',
    'ImageInspectError',
    'RegistryUnavailable',
    'SignatureValidationFailed',
  ])
    it(`is detected from ${reason}, also in init containers`, () => {
      const status = container({ state: waiting(reason) });
      assert.equal(troubleOf(pod(container(), status), 0)?.trouble, 'image-pull');
      assert.equal(troubleOf(initPod(status), 0)?.trouble, 'image-pull');
    });

  for (const reason of ['ContainerCreating', 'PodInitializing', 'CreateContainerConfigError', ''])
    it(`is not detected from "${reason}"`, () =>
      assert.equal(troubleOf(pod(container({ state: waiting(reason) })), ms(0)), undefined));

  it('says which image', () =>
    assert.deepEqual(
      troubleOf(pod(container({ state: waiting('ImagePullBackOff', 'Back-off pulling image "x:9"') })), 0),
      {
        trouble: 'image-pull',
        detail: 'container app: ImagePullBackOff: Back-off pulling image "x:9"',
      },
    ));
});

describe('crash-loop', () => {
  const between = container({
    restartCount: 2,
    state: { running: { startedAt: at(10) } },
    lastState: run(at(9), at(9, 30)),
  });
  const unready = ms(9, 30);

  it('is detected from CrashLoopBackOff, also in init containers', () => {
    const status = container({ restartCount: 1, state: waiting('CrashLoopBackOff') });
    assert.equal(troubleOf(pod(status), 0)?.trouble, 'crash-loop');
    assert.equal(troubleOf(initPod(status), 0)?.trouble, 'crash-loop');
  });

  const cases: [name: string, status: ContainerStatus, unreadySince: number, seen: boolean][] = [
    ['between two tries, while the container runs', between, unready, true],
    ['when the run has just ended', container({ restartCount: 2, state: run(at(10), at(10, 20)) }), unready, true],
    ['only after the second restart', { ...between, restartCount: 1 }, unready, false],
    ['not when the container is ready', { ...between, ready: true }, unready, false],
    ['not when Ready became False during this run', between, ms(10, 5), false],
    ['not when Ready became False as this run began', between, ms(10), false],
    ['not when the pod has no Ready condition that is False', between, 0, false],
    ['not after a run of ten minutes', { ...between, lastState: run(at(0), at(10)) }, unready, false],
    ['after a run just short of ten minutes', { ...between, lastState: run(at(0), at(9, 59)) }, unready, true],
    ['not when there is no last run', { ...between, lastState: {} }, unready, false],
    [
      'not when nobody knows how the last run ended',
      { ...between, lastState: run(at(9), at(9, 30), { exitCode: 255, reason: 'Unknown' }) },
      unready,
      false,
    ],
    [
      'not when the last run has no times',
      { ...between, lastState: { terminated: { exitCode: 137, reason: 'Error' } } },
      unready,
      false,
    ],
    [
      'not when the run that ended was a long one',
      container({ restartCount: 2, state: run(at(10), at(25)) }),
      unready,
      false,
    ],
    [
      'also when the program ends without an error',
      container({ restartCount: 3, state: run(at(10), at(10, 5), { exitCode: 0, reason: 'Completed' }) }),
      unready,
      true,
    ],
    ['not while a container waits to be created', { ...between, state: waiting('ContainerCreating') }, unready, false],
  ];
  for (const [name, status, unreadySince, seen] of cases)
    it(name, () => assert.equal(troubleOf(pod(status), unreadySince)?.trouble, seen ? 'crash-loop' : undefined));

  it('is not reported for an init container that has succeeded', () => {
    const state = run(at(10), at(10, 5), { exitCode: 0, reason: 'Completed' });
    assert.equal(troubleOf(initPod(container({ restartCount: 3, state })), unready), undefined);
    const failed = run(at(10), at(10, 5));
    assert.equal(troubleOf(initPod(container({ restartCount: 3, state: failed })), unready)?.trouble, 'crash-loop');
  });

  it('is detected in every container', () =>
    assert.equal(troubleOf(pod(container({ ready: true }), between), unready)?.trouble, 'crash-loop'));

  it('comes after an image that cannot be pulled', () =>
    assert.equal(
      troubleOf(pod(between, container({ state: waiting('ErrImagePull') })), unready)?.trouble,
      'image-pull',
    ));
});

describe('the detail', () => {
  const looping = (over: { exitCode?: number; reason?: string; message?: string }, restartCount = 4): Pod =>
    pod(
      container({
        restartCount,
        state: waiting('CrashLoopBackOff', 'back-off 5m0s restarting failed container=app'),
        lastState: run(at(1), at(2), over),
      }),
    );
  const detail = (subject: Pod): string | undefined => troubleOf(subject, 0)?.detail;

  it("gives the exit code, the restarts and the program's termination message", () => {
    assert.equal(
      detail(looping({ message: 'no such file: /etc/app.conf' })),
      'container app: CrashLoopBackOff (exit code 1, 4 restarts): no such file: /etc/app.conf',
    );
    assert.equal(detail(looping({}, 1)), 'container app: CrashLoopBackOff (exit code 1, 1 restart)');
    assert.equal(
      detail(looping({ exitCode: 137, reason: 'OOMKilled' })),
      'container app: CrashLoopBackOff (OOMKilled, exit code 137, 4 restarts)',
    );
  });

  it('names init containers as such', () =>
    assert.equal(
      detail(initPod(container({ name: 'setup', restartCount: 2, state: waiting('CrashLoopBackOff') }))),
      'init container setup: CrashLoopBackOff (2 restarts)',
    ));

  it('is the same while the container waits and while it retries', () => {
    const lastState = run(at(9), at(9, 30));
    const running = container({ restartCount: 2, state: { running: { startedAt: at(10) } }, lastState });
    const backOff = container({ restartCount: 2, state: waiting('CrashLoopBackOff', 'back-off 20s'), lastState });
    assert.equal(troubleOf(pod(running), ms(9, 30))?.detail, troubleOf(pod(backOff), ms(9, 30))?.detail);
  });

  it('keeps the end of a long error, which names the cause', () => {
    const path = '/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots/8/fs/usr/lib/libc.so.6';
    const layer = `failed to extract layer sha256:${'8f780dd1'.repeat(8)}`;
    const message = `failed to pull and unpack image "app:v2": ${layer}: write ${path}: no space left on device: unknown`;
    const text = detail(pod(container({ state: waiting('ErrImagePull', message) }))) ?? '';
    assert.match(text, /ErrImagePull: failed to pull and unpack image "app:v2": .*…/);
    assert.match(text, /: no space left on device: unknown$/);
  });

  it('keeps 200 characters of a message, on one line, without breaking a character', () => {
    const text = detail(looping({ message: `line one\n\tline\u0000two ${'🚗'.repeat(300)}` })) ?? '';
    const message = text.slice(text.indexOf('): ') + 3);
    assert.match(message, /^line one line two 🚗+…🚗+$/u);
    assert.equal(Array.from(message).length, 200);
    assert.equal(detail(looping({ message: 'x'.repeat(200) }))?.endsWith(`: ${'x'.repeat(200)}`), true);
  });
});
