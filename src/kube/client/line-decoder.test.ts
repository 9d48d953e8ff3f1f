import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { isKubeError } from './errors.ts';
import { createLineDecoder } from './line-decoder.ts';

const text = fc.string({ unit: 'binary' }).map((raw) => raw.replaceAll('\n', '').toWellFormed());

test('yields the same lines for any chunk boundaries', () => {
  fc.assert(
    fc.property(fc.array(text), text, fc.array(fc.nat()), (lines, rest, cuts) => {
      const bytes = Buffer.from(lines.map((one) => `${one}\n`).join('') + rest);
      const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].toSorted((a, b) => a - b);
      const decoder = createLineDecoder(1_000_000);
      const seen: string[] = [];
      let from = 0;
      for (const to of [...places, bytes.length]) {
        seen.push(...decoder.push(bytes.subarray(from, to)));
        from = to;
      }
      assert.deepEqual(seen, lines);
      assert.equal(decoder.pendingBytes, Buffer.byteLength(rest));
    }),
  );
});

test('an incomplete line does not change when its chunk is reused', () => {
  const decoder = createLineDecoder(100);
  const chunk = Buffer.from('a\nbegin');
  decoder.push(chunk);
  chunk.fill('?');
  assert.deepEqual(decoder.push(Buffer.from('ning\n')), ['beginning']);
});

test('a line that is too long and bytes that are not UTF-8 are Malformed', () => {
  const malformed = (error: unknown): boolean => isKubeError(error, 'Malformed');
  const decoder = createLineDecoder(10);
  assert.deepEqual(decoder.push(Buffer.from('0123456789\n')), ['0123456789']);
  decoder.push(Buffer.from('012345'));
  assert.throws(() => decoder.push(Buffer.from('67890')), malformed);
  assert.throws(() => createLineDecoder(10).push(Buffer.from([0xc3, 0x0a])), malformed);
});
