import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MINUTE, type Outcome, RINGS, type Version } from './scenario.ts';
import { type SettingName, settings } from './settings.ts';
import { simulate } from './simulate.ts';

const [CANARY, EARLY] = RINGS;
const good: Version = { kind: 'good' };
/** It cuts the link of half of the clusters. */
const soon: Version = { kind: 'cuts', fromMs: 0, toMs: 2 * MINUTE };
const late: Version = { kind: 'cuts', fromMs: 7 * MINUTE, toMs: 10 * MINUTE };

const roll = (setting: SettingName, version: Version, minReadyMs = MINUTE, seed = 1): Outcome =>
  simulate({ seed, setting: settings[setting], version, minReadyMs, outages: 'mixed' });

describe('a rollout to a thousand clusters', () => {
  test('has the same outcome for the same seed, and another one for another', () => {
    assert.deepEqual(roll('reach', good), roll('reach', good));
    assert.notDeepEqual(roll('reach', good), roll('reach', good, MINUTE, 2));
  });

  test('waits for clusters that are offline, unless reach takes them out of their ring', () => {
    assert.ok(roll('reach', good).lastRing < 4);
    assert.ok(roll('tolerations', good).lastRing > 100);
    assert.ok(roll('failures-10', good).lastRing > 100);
  });

  test('that halts in its clusters ends with the first ring', () => {
    assert.equal(roll('reach', { kind: 'halts' }).taken, CANARY);
  });

  test('of a version that cuts links is held by suspects', () => {
    const { taken, cut } = roll('reach', soon);
    assert.equal(taken, CANARY);
    assert.ok(cut > 1 && cut < CANARY, `${cut} of the canaries were cut off`);
  });

  test('of a version that cuts links is held by nobody where unreachable clusters are not selected', () => {
    const { taken, cut, stripped } = roll('no-tolerations', soon);
    assert.ok(taken > 900 && cut > 400 && stripped > 200, `${taken} taken, ${cut} cut off, ${stripped} stripped`);
  });

  test('needs a suspect window longer than it takes the version to cut the link', () => {
    assert.equal(roll('reach', late, 10 * MINUTE).taken, CANARY);
    assert.ok(roll('reach-5m', late, 10 * MINUTE).taken > CANARY + EARLY);
  });

  test('is not held by suspects that have reported success', () => {
    assert.ok(roll('reach', late).taken > CANARY + EARLY);
  });
});
