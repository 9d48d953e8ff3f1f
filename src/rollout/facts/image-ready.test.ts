import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod, PodCondition } from 'kubernetes-types/core/v1.d.ts';
import { type ImageReady, imageFactsOf, imageReadyOf, imageReadyPatch } from './image-ready.ts';

const podWith = (message: string): Pod => ({
  status: { conditions: [{ type: 'PodImageReady', status: 'False', reason: 'PullImageFail', message }] },
});

describe('condition PodImageReady', () => {
  it('names its revision first and then the cause', () => {
    const cases: [string, Pick<ImageReady, 'revision' | 'message'>][] = [
      ['controllerrevision: 5f7d', { revision: '5f7d', message: '' }],
      ['controllerrevision: 5f7d; no space; none at all', { revision: '5f7d', message: 'no space; none at all' }],
      ['controllerrevision: 5f7d; two\nlines', { revision: '5f7d', message: 'two\nlines' }],
      ['controllerrevision: ', { revision: '', message: '' }],
      ['something else', { revision: '', message: '' }],
      ['', { revision: '', message: '' }],
    ];
    for (const [message, expected] of cases)
      assert.deepEqual(imageReadyOf(podWith(message)), { status: 'False', reason: 'PullImageFail', ...expected });
    assert.equal(imageReadyOf({}), undefined);
  });

  it('reads what the patch writes', () => {
    const patch = imageReadyPatch(
      { uid: 'u', status: 'False' },
      { reason: 'PullImageFail', revision: 'b', cause: 'the\n\u202edisk is full' },
      0,
    );
    assert.deepEqual(imageReadyOf(patch as Pod), {
      status: 'False',
      reason: 'PullImageFail',
      revision: 'b',
      message: 'the disk is full',
    });
  });

  it('keeps how often the kubelet has deleted the images, with and without a cause', () => {
    for (const [reason, cause] of [
      ['PullingImage', undefined],
      ['PullImageSuccess', undefined],
      ['PullImageFail', 'no space; none'],
    ] as const) {
      const report = { reason, revision: 'b', deletions: 2, ...(cause && { cause }) };
      const patch = imageReadyPatch({ uid: 'u', status: undefined }, report, 0) as Pod;
      const { deletions, message } = imageReadyOf(patch) ?? {};
      assert.deepEqual([deletions, message], [2, cause ?? '']);
      assert.equal(imageFactsOf(patch)?.deletions, 2);
    }
    for (const odd of [
      'deleted by the kubelet: 0',
      'deleted by the kubelet: -1',
      'deleted by the kubelet: 12345',
      'deleted',
    ])
      assert.equal(imageReadyOf(podWith(`controllerrevision: b; ${odd}`))?.deletions, undefined, odd);
  });

  it('keeps the message within the limit of the admission policy', () => {
    const report = { reason: 'PullImageFail', revision: 'b', cause: '\u{1F4BE}'.repeat(2000) } as const;
    const { message } =
      (imageReadyPatch({ uid: 'u', status: 'False' }, report, 0) as Pod).status?.conditions?.[0] ?? {};
    assert.equal(message?.length, 1024);
    assert.ok(message?.isWellFormed());
  });

  it('sets lastTransitionTime only if the status changes', () => {
    const timeOf = (status: string | undefined): string | undefined => {
      const { status: written } = imageReadyPatch(
        { uid: 'u', status },
        { reason: 'PullingImage', revision: 'b' },
        0,
      ) as Pod;
      return written?.conditions?.[0]?.lastTransitionTime;
    };
    assert.equal(timeOf(undefined), '1970-01-01T00:00:00Z');
    assert.equal(timeOf('True'), '1970-01-01T00:00:00Z');
    assert.equal(timeOf('False'), undefined);
  });
});

describe('imageFactsOf', () => {
  const NOW = '2030-01-01T00:00:00Z';
  const image = (status = 'False', reason = 'PullingImage', message = 'controllerrevision: b'): PodCondition => ({
    type: 'PodImageReady',
    status,
    reason,
    message,
    lastTransitionTime: NOW,
  });
  const podOf = (...conditions: PodCondition[]): Pod => ({ status: { conditions } });
  const factsOf = (...conditions: PodCondition[]) => {
    const { state, revision, cause, at } = imageFactsOf(podOf(...conditions)) ?? {};
    return state && [state, revision, cause, at];
  };

  it('reads state, revision, cause and time', () => {
    const at = Date.parse(NOW);
    assert.deepEqual(factsOf(image()), ['requested', 'b', '', at]);
    assert.deepEqual(factsOf(image('True', 'PullImageSuccess')), ['present', 'b', '', at]);
    const failed = image('False', 'PullImageFail', 'controllerrevision: b; no such image');
    assert.deepEqual(factsOf(failed), ['failed', 'b', 'no such image', at]);
  });

  const nothing: [string, PodCondition[]][] = [
    ['without a condition', []],
    ['of another kind', [{ ...image(), type: 'PodNeedUpgrade' }]],
    ['without a revision', [image('False', 'PullingImage', 'soon')]],
    ['of what cannot be the hash of a revision', [image('False', 'PullingImage', 'controllerrevision: a,b')]],
    ['for a reason that nobody knows', [image('False', 'Waiting')]],
    ['in a status that nobody knows', [image('Unknown')]],
  ];
  for (const [what, conditions] of nothing)
    it(`is undefined ${what}`, () => assert.equal(factsOf(...conditions), undefined));
});
