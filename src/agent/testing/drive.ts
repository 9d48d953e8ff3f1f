import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Agent } from '../agent.ts';
import { createWorld, type World } from './world.ts';

/** A world that ends with the test; a fault that was to be injected and never was fails it. */
export const newWorld = async (t: TestContext): Promise<World> => {
  const world = await createWorld();
  t.after(async () => {
    const unfired = world.faults.filter(({ fired }) => !fired);
    await world.close();
    assert.deepEqual(unfired, []);
  });
  return world;
};

/** An agent that has version 1 running and was told of version 2. */
export const offered = async (world: World, annotations: Record<string, string> = {}): Promise<Agent> => {
  world.deploy(annotations);
  const { agent } = await world.start();
  await world.until('the pod runs', () => {
    const [update] = agent.updates();
    return update?.state === 'current' && update.running.ready;
  });
  world.setImage('app:v2');
  await world.until('the update is there', () => agent.updates()[0]?.state === 'available');
  return agent;
};

/** Time passes while the answer is waited for. */
export const answerOf = async <T>(world: World, answer: Promise<T>): Promise<{ answer: T; ms: number }> => {
  const began = world.clock.now();
  let at = Number.NaN;
  const seen = (async () => {
    const value = await answer;
    at = world.clock.now();
    return value;
  })();
  await world.until('an answer', () => !Number.isNaN(at));
  return { answer: await seen, ms: at - began };
};
