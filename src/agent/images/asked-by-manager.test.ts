import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { eventually } from '../../../test/support/index.ts';
import { createImagePulls, type TargetOf } from './image-pulls.ts';
import { createWorld, limits, target, type World } from './testing/world.ts';

const v1: TargetOf = () => Promise.resolve(target('a1', 'app:v1'));

let world: World;
let end: AbortController;
let running: Promise<void>;
let follow: (pod: Pod) => void;

const statusOf = (): string | undefined => world.condition('PodImageReady')?.reason;
const pulls = (): number => world.runtime.pulls().length;

beforeEach(async () => {
  world = await createWorld();
  end = new AbortController();
  const { client, env, runtime } = world;
  const images = createImagePulls({ client, env, criSocket: runtime.socket, limits });
  running = images.run(end.signal);
  follow = (pod) => images.follow([pod], v1);
  world.createPod();
});
afterEach(async () => {
  end.abort(new Error('the test is over'));
  await running;
  await world.close();
});

describe('images that the manager asks for where it updates by itself', () => {
  it('are pulled, which is acknowledged at once', async () => {
    world.runtime.answers.set('PullImage', () => 'silence');
    follow(world.ask('a1'));
    await eventually('a pull is under way', () => pulls() === 1);
    assert.equal(statusOf(), 'PullingImage');
    assert.ok(world.condition('PodImageReady')?.lastProbeTime, 'the manager need not pull');
  });

  it('are given up when they are asked for no more, and pulled when they are again', async () => {
    world.runtime.answers.set('PullImage', () => 'silence');
    follow(world.ask('a1'));
    await eventually('a pull is under way', () => world.runtime.pulls().at(-1));
    const [pull] = world.runtime.pulls();
    follow(world.pod());
    follow(world.unask());
    await pull?.over;
    world.runtime.answers.clear();
    await eventually('they are there', () => {
      if (statusOf() !== 'PullImageSuccess') follow(world.ask('a1'));
      return statusOf() === 'PullImageSuccess';
    });
  });
});
