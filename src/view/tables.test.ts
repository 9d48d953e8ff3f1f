import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createTable } from './tables.ts';

it('a table lines up where a cell has wide characters', () => {
  const table = createTable(['CAUSE', 'AGE']);
  assert.equal(
    table.withHeader([
      ['設定を更新', '5m'],
      ['new image', '2h'],
    ]),
    'CAUSE        AGE\n設定を更新   5m\nnew image    2h\n',
  );
  assert.equal(table.row(['新', '1m']), '新           1m\n');
});
