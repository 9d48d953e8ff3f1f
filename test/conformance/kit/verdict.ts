import assert from 'node:assert/strict';
import { isKubeError } from '../../../src/kube/index.ts';

/** What the API server must say to an object. */
export interface Verdict {
  /** The field that is named and a part of the message; undefined: accepted. */
  refused?: readonly [field: string, words: string];
  /** Parts of the accepted spec as it is read back. */
  stored?: Record<string, unknown>;
}

/** What `found` holds at the places that `wanted` names; absent where it is wanted to be absent. */
const partOf = (found: unknown, wanted: unknown): unknown => {
  if (typeof wanted !== 'object' || wanted === null || Array.isArray(wanted)) return found;
  const record = (found ?? {}) as Record<string, unknown>;
  return Object.fromEntries(Object.entries(wanted).map(([key, inner]) => [key, partOf(record[key], inner)]));
};

/** Compares the answer to a write with the verdict that it must get. */
export const assertVerdict = async (written: Promise<{ spec: object }>, { refused, stored = {} }: Verdict) => {
  if (!refused) {
    assert.deepEqual(partOf((await written).spec, stored), stored);
    return;
  }
  const [field, words] = refused;
  await assert.rejects(written, (error: unknown) => {
    assert.ok(isKubeError(error, 'Invalid'), `refused otherwise: ${String(error)}`);
    assert.ok(error.message.includes(`${field}: `), `${error.message} does not name ${field}`);
    assert.ok(error.message.includes(words), `${error.message} does not say "${words}"`);
    return true;
  });
};
