import assert from 'node:assert/strict';
import { it } from 'node:test';
import { generatePlan } from './plan/generate-plan.ts';
import { faultKinds, START } from './plan/plan.ts';
import { formatHistory } from './story.ts';

it('a red plan says which rule was broken, what happened on the node before, and what was known', () => {
  const lines = [
    '       5 ADDED pods app-a 2 on node-0',
    '       6 ADDED pods app-b 3 on node-1',
    '     100 - {"do":"release","image":"app:v1"}',
    '     110 - {"do":"offline","node":"node-1"}',
    '     120 MODIFIED pods app-a 7',
    '     130 MODIFIED pods app-b 8',
    '     900 MODIFIED pods app-a 9',
  ];
  const violation = {
    invariant: 'S4',
    at: START + 500,
    text: 'manager-1 deletes app-a on node-0',
    testimony: ['node-0: gone'],
  };
  const text = formatHistory(generatePlan(1, faultKinds), { lines, violations: [violation] });
  assert.equal(
    text.slice(text.lastIndexOf('\n\n') + 2),
    [
      'S4 is broken at 0.500: manager-1 deletes app-a on node-0',
      '  the rule: No update begins on an offline node.',
      '  what happened before, as far as it is about this:',
      '       0.005 ADDED pods app-a 2 on node-0',
      '       0.100 - {"do":"release","image":"app:v1"}',
      '       0.120 MODIFIED pods app-a 7',
      '  what was so then, and what was known of it:',
      '    node-0: gone',
    ].join('\n'),
  );
});
