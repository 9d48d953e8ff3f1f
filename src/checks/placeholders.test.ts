import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fillIn, fillInQuery, placeholderProblem } from './placeholders.ts';
import { subject } from './testing/subject.ts';

it('names what is no placeholder', () => {
  for (const text of [
    'up',
    'up{a=~"x$"}',
    'up{ds="${daemonSet}", s="${stage}"}',
    '${namespace}${revision}${previousRevision}',
  ])
    assert.equal(placeholderProblem(text), undefined, text);
  for (const text of ['${node}', '${daemonSet', '${}', 'up{x="${Stage}"}']) {
    const { problem = '', remedy = '' } = placeholderProblem(text) ?? {};
    assert.match(problem, /is not a placeholder$/, text);
    assert.match(remedy, /^use \$\{namespace\}, /);
  }
});

it('puts every value in', () => {
  const text = '${namespace}/${daemonSet} ${revision} ${previousRevision} ${stage} ${namespace}';
  assert.equal(fillIn(text, subject()), 'shop/web 7d9 6c8 canary shop');
  assert.equal(fillIn('${stage}', subject({ stage: '${namespace}' })), '${namespace}');
});

it('keeps a value of a query within its quotes', () => {
  const stage = 'a"b\'c\\d\ne`f$&';
  assert.equal(fillInQuery('{s="${stage}"}', subject({ stage })), '{s="a\\"b\\\'c\\\\d\\ne\\x60f$&"}');
});
