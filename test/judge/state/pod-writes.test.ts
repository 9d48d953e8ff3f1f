import assert from 'node:assert/strict';
import { it } from 'node:test';
import { buildHistory, managerUser } from '../audit/history-builder.ts';
import { followRecords, inOrder } from '../audit/records.ts';
import { createPodWriteReader } from './pod-writes.ts';

const log = () => buildHistory(2, { updateStrategy: { rollingUpdate: { maxUnavailable: 1 } } });

const kindsIn = ({ records }: ReturnType<typeof log>): string[] => {
  const { state, apply } = followRecords('edge', 'app', 'apps.kruise.io');
  const reader = createPodWriteReader(state);
  return inOrder(records).flatMap((record) => {
    const step = record.user === managerUser ? reader.read(record) : undefined;
    apply(record);
    return step ? [step.kind] : [];
  });
};

it('an in-place update begins once, with the gate or with the patch of labels alone', () => {
  const gated = log().shut('old-n0', 'n0', 'old').change('old-n0', 'n0', 'new');
  assert.deepEqual(kindsIn(gated.change('old-n1', 'n1', 'new', { gate: 'open' })), [
    'in-place',
    'continue',
    'in-place',
  ]);
});

it('the preparation of a delete begins it, and a delete that is logged twice begins nothing', () => {
  const prepared = log().prepare('old-n0', 'n0', 'old').remove('old-n0', 'n0', 'old').remove('old-n0', 'n0', 'old');
  assert.deepEqual(kindsIn(prepared), ['delete', 'continue', 'continue']);
});

it('a created pod is a surge beside a live one, and otherwise fills a gap', () => {
  const surged = log().create('new-n0', 'n0', 'new').remove('old-n0', 'n0', 'old');
  const filled = surged.gone('old-n1', 'n1', 'old').create('new-n1', 'n1', 'new');
  assert.deepEqual(kindsIn(filled), ['surge', 'delete-surged-out', 'create']);
});

it('of two pods of one revision one is cleaned up, and so is a pod on a wrong node', () => {
  const twice = log().pod('twin-n0', 'n0', 'old', true).remove('twin-n0', 'n0', 'old');
  assert.deepEqual(kindsIn(twice), ['delete-twin']);
  assert.deepEqual(kindsIn(log().pod('lost', 'n9', 'old', true).remove('lost', 'n9', 'old')), ['clean-up']);
});

it('a dry run writes nothing', () => {
  const asked = log().create('new-n0', 'n0', 'new');
  const records = asked.records.map((record) =>
    record.verb === 'create' ? { ...record, dryRun: true as const } : record,
  );
  assert.deepEqual(
    inOrder(records).filter(({ verb }) => verb === 'create'),
    [],
  );
});
