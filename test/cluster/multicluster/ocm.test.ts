// deploy/multicluster/ocm on Open Cluster Management's own controllers and agents: which cluster gets a release, and when.

import assert from 'node:assert/strict';
import { after, afterEach, before, describe } from 'node:test';
import { describeFaults } from './ocm/cases/faults.ts';
import { describeGuide } from './ocm/cases/guide.ts';
import { describeOffline } from './ocm/cases/offline.ts';
import { describeReach } from './ocm/cases/reach.ts';
import { describeRings } from './ocm/cases/rings.ts';
import { type Fixture, startFixture } from './ocm/fixture.ts';

describe('rings of clusters, on Open Cluster Management', { timeout: 1_800_000 }, () => {
  let started: Fixture | undefined;
  const fixture = (): Fixture => {
    assert.ok(started);
    return started;
  };
  before(async () => {
    started = await startFixture();
  });
  afterEach(() => started?.reset());
  after(() => started?.stop());

  describeGuide(fixture);
  describeRings(fixture);
  describeOffline(fixture);
  describeFaults(fixture);
  describeReach(fixture);
});
