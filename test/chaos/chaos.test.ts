import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startCluster } from '../cluster/index.ts';
import { runChaos } from './run.ts';
import { readSettings } from './settings.ts';

const settings = readSettings(process.env);
const MINUTE_MS = 60_000;

describe('native and Advanced DaemonSets under faults on a real control plane', () => {
  it(`violate no invariant and converge (${settings.storm}, seed ${settings.seed})`, {
    timeout: (settings.minutes + 8) * MINUTE_MS,
  }, async (context) => {
    const { problems, figures } = await runChaos(startCluster, settings, (line) => context.diagnostic(line));
    for (const line of figures) context.diagnostic(line);
    assert.deepEqual(problems, []);
  });
});
