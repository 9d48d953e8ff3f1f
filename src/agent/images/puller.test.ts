import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { eventually } from '../../../test/support/index.ts';
import { createImagePulls, type TargetOf } from './image-pulls.ts';
import { createTestbed, limits, type Testbed, target } from './testing/testbed.ts';

const v1: TargetOf = () => Promise.resolve(target('a1', 'app:v1'));

let testbed: Testbed;
let end: AbortController;
let running: Promise<void>;
let follow: (pod: Pod) => void;

const statusOf = (): string | undefined => testbed.condition('PodImageReady')?.reason;
const pulls = (): number => testbed.runtime.pulls().length;

beforeEach(async () => {
  testbed = await createTestbed();
  end = new AbortController();
  const { client, env, runtime } = testbed;
  const images = createImagePulls({ client, env, criSocket: runtime.socket, limits });
  running = images.run(end.signal);
  follow = (pod) => images.follow([pod], v1);
  testbed.createPod();
});
afterEach(async () => {
  end.abort(new Error('the test is over'));
  await running;
  await testbed.close();
});

describe('images that the manager requests before it updates', () => {
  it('are pulled, and the request is acknowledged at once', async () => {
    testbed.runtime.answers.set('PullImage', () => 'silence');
    follow(testbed.ask('a1'));
    await eventually('a pull is under way', () => pulls() === 1);
    assert.equal(statusOf(), 'PullingImage');
    assert.ok(testbed.condition('PodImageReady')?.lastProbeTime, 'the manager need not pull');
  });

  it('are cancelled when the request is withdrawn, and pulled when they are requested again', async () => {
    testbed.runtime.answers.set('PullImage', () => 'silence');
    follow(testbed.ask('a1'));
    await eventually('a pull is under way', () => testbed.runtime.pulls().at(-1));
    const [pull] = testbed.runtime.pulls();
    follow(testbed.pod());
    follow(testbed.unask());
    await pull?.over;
    testbed.runtime.answers.clear();
    await eventually('they are there', () => {
      if (statusOf() !== 'PullImageSuccess') follow(testbed.ask('a1'));
      return statusOf() === 'PullImageSuccess';
    });
  });
});
