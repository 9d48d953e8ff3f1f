import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { goJson } from './go-json.ts';

describe('JSON as Go writes it', () => {
  it('sorts keys by bytes at every depth, also those that look like numbers', () => {
    const value = { b: 1, 10: 'x', 9: 'y', $patch: 'replace', é: 0, z: [{ b: 2, a: 1 }], Z: null };
    assert.equal(goJson(value), '{"$patch":"replace","10":"x","9":"y","Z":null,"b":1,"z":[{"a":1,"b":2}],"é":0}');
  });
  it('sorts in UTF-8 order beyond the basic multilingual plane', () => {
    assert.equal(goJson({ '\u{1f600}': 1, '\uff61': 2 }), '{"\uff61":2,"\u{1f600}":1}');
  });
  it('escapes what Go escapes, and nothing else', () => {
    const all = `<a> & "b"\\ \u2028\u2029 \u0007\b\f\n\r\t\u007f/ é \u{1f600}`;
    assert.equal(
      goJson(all),
      '"\\u003ca\\u003e \\u0026 \\"b\\"\\\\ \\u2028\\u2029 \\u0007\\b\\f\\n\\r\\t\u007f/ é \u{1f600}"',
    );
    assert.equal(goJson('\ud800'), '"\ufffd"');
  });
  it('omits undefined values', () => assert.equal(goJson({ a: undefined, b: [undefined] }), '{"b":[null]}'));
  it('parses to the same value, whatever the order of its keys', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const read: unknown = JSON.parse(JSON.stringify(value));
        assert.deepEqual(
          JSON.parse(goJson(read)),
          JSON.parse(
            JSON.stringify(read, (_, item: unknown) => (typeof item === 'string' ? item.toWellFormed() : item)),
          ),
        );
        assert.equal(goJson(JSON.parse(goJson(read))), goJson(read));
      }),
    );
  });
});
