import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeCell } from '../types.ts';
import { groupCells } from './groups.ts';

const cell = (name: string, stage: string): NodeCell => [name, 'outdated', '', '', 0, 0, stage, ''];
const stageOf = (node: NodeCell): string => node[6];
const CELLS = [cell('n1', 'rest'), cell('n2', 'lab'), cell('n3', 'rest'), cell('n4', 'gone-10'), cell('n5', 'gone-9')];
const texts = (first?: readonly string[]): string[] =>
  groupCells(CELLS, stageOf, first).map(({ name, nodes }) => `${name}: ${nodes.map(([node]) => node).join(' ')}`);

describe('the groups of a fleet', () => {
  it('are in the order of their names, with numbers as numbers', () => {
    assert.deepEqual(texts(), ['gone-9: n5', 'gone-10: n4', 'lab: n2', 'rest: n1 n3']);
  });

  it('are in the order of the stages, with those that have no nodes, and then what is of no stage', () => {
    assert.deepEqual(texts(['lab', 'canary', 'rest']), [
      'lab: n2',
      'canary: ',
      'rest: n1 n3',
      'gone-9: n5',
      'gone-10: n4',
    ]);
  });
});
