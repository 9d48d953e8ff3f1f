import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Agent } from '../agent.ts';
import type { Choice, DecideResult, TextResponse } from '../types.ts';
import { authorized, createTestbed, owner, type Testbed } from './testbed.ts';

/** A testbed that closes with the test. The test fails if an injected fault was never triggered. */
export const openTestbed = async (t: TestContext): Promise<Testbed> => {
  const testbed = await createTestbed();
  t.after(async () => {
    const unfired = testbed.faults.filter(({ fired }) => !fired);
    await testbed.close();
    assert.deepEqual(unfired, []);
  });
  return testbed;
};

/** An agent that runs version 1 and for which version 2 is announced. */
export const startWithUpdate = async (testbed: Testbed, annotations: Record<string, string> = {}): Promise<Agent> => {
  testbed.deploy(annotations);
  const { agent } = await testbed.start();
  await testbed.until('the pod runs', () => {
    const [update] = agent.updates();
    return update?.state === 'current' && update.running.ready;
  });
  testbed.setImage('app:v2');
  await testbed.until('the update is there', () => agent.updates()[0]?.state === 'available');
  return agent;
};

export const openWithUpdate = async (
  t: TestContext,
  annotations?: Record<string, string>,
): Promise<{ testbed: Testbed; agent: Agent }> => {
  const testbed = await openTestbed(t);
  return { testbed, agent: await startWithUpdate(testbed, annotations) };
};

/** Lets time pass until the promise resolves; `ms` is how long that took. */
export const responseOf = async <T>(testbed: Testbed, answer: Promise<T>): Promise<{ answer: T; ms: number }> => {
  const began = testbed.clock.now();
  let at = Number.NaN;
  const seen = (async () => {
    const value = await answer;
    at = testbed.clock.now();
    return value;
  })();
  await testbed.until('an answer', () => !Number.isNaN(at));
  return { answer: await seen, ms: at - began };
};

/** The testbed's DaemonSet. */
export const app = { namespace: 'default', daemonSet: 'app' };
export const approveNow: Choice = { choice: 'approve', when: { type: 'now' } };

export const targetOf = (agent: Agent): string => agent.updates()[0]?.target.revision ?? '';

/** State and reason of the DaemonSet, such as `queued Disconnected`. */
export const stateOf = (agent: Agent): string => `${agent.updates()[0]?.state} ${agent.updates()[0]?.reason}`;

/** What the history shows, newest first. */
export const historyOf = (agent: Agent): string[] => agent.history().map(({ what }) => what);

export const decide = (agent: Agent, choice: Choice, revision = targetOf(agent)): Promise<DecideResult> =>
  agent.decide(app, revision, choice, owner, authorized);

/** Calls the YurtHub route for the testbed's pod. */
export const upgrade = (
  testbed: Testbed,
  agent: Agent,
  { queue = false }: { queue?: boolean } = {},
): Promise<{ answer: TextResponse; ms: number }> =>
  responseOf(testbed, agent.upgrade(testbed.ref(), owner, { queue, reauthorize: authorized }));
