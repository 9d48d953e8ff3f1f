import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { escapePainted, hasColor, paint, withoutColors } from './color.ts';

describe('colors', () => {
  it('are for terminals that want them', () => {
    for (const environment of [{}, { TERM: 'xterm' }, { NO_COLOR: '' }]) assert.equal(hasColor(environment), true);
    for (const environment of [{ NO_COLOR: '1' }, { TERM: 'dumb' }]) assert.equal(hasColor(environment), false);
  });

  it('are all that acts on the terminal in a painted text', () => {
    const red = paint('failed', 'bad');
    assert.equal(escapePainted(`${red}\n`), `${red}\n`);
    assert.equal(escapePainted(`\u001B[2J${red}\u0007`), `${String.raw`\u001b`}[2J${red}${String.raw`\u0007`}`);
    assert.equal(withoutColors(`a ${red} b`), 'a failed b');
  });

  it('are none for what has no tone', () => {
    assert.deepEqual([paint('a'), paint('', 'bad')], ['a', '']);
  });
});
