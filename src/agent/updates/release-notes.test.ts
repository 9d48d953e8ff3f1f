import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '../../../test/support/index.ts';
import { decide, openTestbed, openWithUpdate } from '../testing/scenario.ts';
import { releaseNotesOf } from './release-notes.ts';

const KEY = 'edgeset.io/release-notes';
const notes = (text: string): string | null => releaseNotesOf({ metadata: { annotations: { [KEY]: text } } });

describe('release notes', () => {
  it('keep their line breaks, whatever they are, and lose empty lines and spaces at the ends', () => {
    assert.equal(notes('  One.\r\nTwo.  \rThree.\n\n\n\n- four\t5\n'), 'One.\nTwo.\nThree.\n\n- four 5');
  });

  it('are null for nothing', () => {
    for (const text of ['', ' \n ', '\u202E', '\u0000']) assert.equal(notes(text), null);
    assert.equal(releaseNotesOf({}), null);
    assert.equal(releaseNotesOf({ metadata: { annotations: { other: 'x' } } }), null);
  });

  it('have no characters that reverse or hide others; those of scripts and emoji stay', () => {
    assert.equal(notes('a\u202Eb\u2066c\u200Bd\u0007e\u001B[31mf'), 'abcde[31mf');
    const whole = 'می‌خواهم 👩‍🍳 价格 <b>ü</b>';
    assert.equal(notes(whole), whole);
  });

  it('have at most 2,000 characters, and no half of one', () => {
    const long = notes('x'.repeat(300_000)) ?? '';
    assert.equal(long.length, 2_000);
    assert.ok(long.endsWith('x…'));
    const emoji = notes(`x${'😀'.repeat(5_000)}`) ?? '';
    assert.ok(emoji.length <= 2_000 && emoji.isWellFormed(), 'cut between two characters');
    assert.equal(notes('\n'.repeat(300_000)), null);
  });

  it('are those of the revision: recorded with it, kept offline, and the earlier ones after a rollback', async (t) => {
    const { testbed, agent } = await openWithUpdate(t, { [KEY]: 'First.' });
    await testbed.advance(1_000);
    const shown = (): string | null | undefined => agent.updates()[0]?.target.notes;
    assert.equal(shown(), 'First.');
    testbed.patchDaemonSet({
      metadata: { annotations: { [KEY]: 'Second.\nAnd more.' } },
      spec: { template: { spec: { containers: [{ name: 'app', image: 'app:v3' }] } } },
    });
    await testbed.until('the notes of the next version', () => shown() === 'Second.\nAnd more.');
    // A later change is about the next template.
    testbed.patchDaemonSet({ metadata: { annotations: { [KEY]: 'Third.' } } });
    await testbed.advance(10_000);
    assert.equal(shown(), 'Second.\nAnd more.');
    const revision = agent.updates()[0]?.target.revision ?? '';
    await eventually('the agent has saved the pod and the notes', async () => {
      const [pods, updates] = await Promise.all([testbed.saved('pods.json'), testbed.saved('updates.json')]);
      return pods.includes(`controllerrevision: ${revision}`) && updates.includes('Second.');
    });
    testbed.cut(true);
    const { agent: next } = await testbed.start({ killed: true });
    assert.equal(next.updates()[0]?.target.notes, 'Second.\nAnd more.');
    testbed.cut(false);
    testbed.setImage('app:v2');
    await testbed.until('the notes of the version before', () => next.updates()[0]?.target.notes === 'First.');
  });

  it('are null without the annotation, and do not keep an owner from deciding', async (t) => {
    const testbed = await openTestbed(t);
    testbed.deploy();
    const { agent } = await testbed.start();
    await testbed.until('the pod runs', () => agent.updates()[0]?.state === 'current');
    testbed.setImage('app:v2');
    await testbed.until('the update is there', () => agent.updates()[0]?.state === 'available');
    assert.equal(agent.updates()[0]?.target.notes, null);
    assert.equal((await decide(agent, { choice: 'reject' })).kind, 'accepted');
  });
});
