import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readCommand, runCommand } from './commands.ts';
import type { CommandRequest } from './messages.ts';

const io = {
  environment: { KUBECONFIG: '/does/not/exist' },
  random: () => 0.5,
  version: '0',
  edgeset: (words: string, namespace = 'none', context = 'current') => `edgeset ${words} -n ${namespace} in ${context}`,
};
const pause: CommandRequest = { command: 'pause', namespace: 'shop', kind: 'ds', name: 'web' };

describe('a command of the dashboard', () => {
  it('is read as it was sent', () => {
    for (const request of [
      pause,
      { ...pause, cluster: 'arn:aws:eks:eu-west-1:1:cluster/shop 1' },
      { ...pause, command: 'plan', maxUnavailable: '10%' },
      { ...pause, command: 'set', maxUnavailable: '3', partition: '50%', dryRun: true },
      { ...pause, command: 'undo', kind: 'ads', revision: 3, dryRun: true },
      { ...pause, command: 'approve', stage: 'canary', dryRun: true },
      { ...pause, command: 'promote', kind: 'ads', stage: 'canary' },
      { ...pause, command: 'approve', stage: 'canary', comment: "it's fine, says Ada" },
    ])
      assert.deepEqual(readCommand(request), request);
  });

  for (const [what, body] of [
    ['another command', { ...pause, command: 'crds' }],
    ['a command that is not about a rollout of now', { ...pause, command: 'history' }],
    ['a flag as a name', { ...pause, name: '--kubeconfig=/etc/shadow' }],
    ['a flag as a namespace', { ...pause, namespace: '-A' }],
    ['two names', { ...pause, name: 'web other' }],
    ['a cluster that is no text', { ...pause, cluster: ['south'] }],
    ['another kind', { ...pause, kind: 'deploy' }],
    ['a budget that is none', { ...pause, command: 'plan', maxUnavailable: '1 --unpaused' }],
    ['a partition that is none', { ...pause, command: 'set', partition: '-1' }],
    ['a revision that is none', { ...pause, command: 'undo', revision: 0 }],
    ['a dry run that is none', { ...pause, dryRun: 'no' }],
    ['an approval of no stage', { ...pause, command: 'approve' }],
    ['a promotion of what is no stage', { ...pause, command: 'promote', stage: 'canary --comment=x' }],
    ['an empty comment', { ...pause, command: 'approve', stage: 'canary', comment: '' }],
    ['a comment of two lines', { ...pause, command: 'approve', stage: 'canary', comment: 'fine\n--as=root' }],
    ['a comment that is too long', { ...pause, command: 'approve', stage: 'canary', comment: 'x'.repeat(1_025) }],
    ['a comment on no stage', { ...pause, comment: 'lunch' }],
    ['a stage where there is none', { ...pause, stage: 'canary' }],
    ['no object', 'pause'],
    ['nothing', null],
  ] as const)
    it(`is refused with ${what}`, () => assert.equal(readCommand(body), undefined));

  it('sets the budget and the partition, and plans with them', async () => {
    const settings = { maxUnavailable: '3', partition: '50%' };
    const typed = async (request: CommandRequest): Promise<string> => (await runCommand(request, {}, io)).typed;
    assert.equal(
      await typed({ ...pause, command: 'set', ...settings, dryRun: true }),
      'edgeset set ds/web -n shop in current --max-unavailable=3 --partition=50%',
    );
    assert.equal(
      await typed({ ...pause, command: 'plan', ...settings }),
      'edgeset plan ds/web -n shop in current --max-unavailable=3 --partition=50%',
    );
    assert.equal(await typed({ ...pause, ...settings }), 'edgeset pause ds/web -n shop in current');
    assert.equal(await typed({ ...pause, cluster: 'depot' }), 'edgeset pause ds/web -n shop in depot');
  });

  it('decides on the stage that the user has seen', async () => {
    const typed = async (request: CommandRequest): Promise<string> => (await runCommand(request, {}, io)).typed;
    assert.equal(
      await typed({ ...pause, command: 'promote', stage: 'canary', dryRun: true }),
      'edgeset promote ds/web -n shop in current --stage=canary',
    );
    assert.equal(
      await typed({ ...pause, command: 'approve', kind: 'ads', stage: 'canary' }),
      'edgeset approve ads/web -n shop in current --stage=canary',
    );
    assert.equal(
      await typed({ ...pause, command: 'approve', stage: 'canary', comment: "it's fine; $(reboot)" }),
      String.raw`edgeset approve ds/web -n shop in current --stage=canary --comment='it'\''s fine; $(reboot)'`,
    );
  });

  it('says how the user would type it, and why it failed', async () => {
    const { typed, failed, output } = await runCommand({ ...pause, dryRun: true }, { context: 'depot' }, io);
    assert.equal(typed, 'edgeset pause ds/web -n shop in current');
    assert.equal(failed, true);
    assert.match(output, /kubeconfig|KUBECONFIG/);
  });
});
