// What the cases share: one rig of three shops, of which the first is the canary.

import assert from 'node:assert/strict';
import { type Application, createApplication, isSucceeded, type ReplicaSet } from './application.ts';
import { applyPlacement } from './placement.ts';
import { label, type Member, type Reach, type Rig, report, setRing, startRig } from './rig.ts';

export const [canary, first, second] = ['shop-1', 'shop-2', 'shop-3'] as const;
export const shops = [canary, first, second] as const;
export const within = { withinMs: 120_000, everyMs: 100 };

export interface Fixture {
  readonly rig: Rig;
  readonly member: (name: string) => Member;
  /** An application that runs v1 on all members. */
  readonly opened: (change?: (set: ReplicaSet) => void) => Promise<Application>;
  /** Another application gets to all of these members: what is held meanwhile is not just late. */
  readonly engineWorks: (...online: readonly string[]) => Promise<void>;
  /** Cuts the link to the hub, which notices. Without a reach, nobody labels the cluster. */
  readonly goAway: (name: string, reach?: Extract<Reach, 'away' | 'suspect'>) => Promise<void>;
  /** Restores the link to the hub, which notices. */
  readonly connect: (name: string) => Promise<void>;
  /** The same, and labels the cluster. */
  readonly comeBack: (name: string) => Promise<void>;
  /** Everybody is back, and in the ring of the beginning. */
  readonly reset: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** What the hub and the members have before their administrators follow the guide. */
export const startFixture = async (): Promise<Fixture> => {
  const rig = await startRig({ members: shops, nodes: ['node-1', 'node-2'] });
  const { hub } = rig;
  const control = createApplication(rig, 'control');
  let applications = 0;
  let releases = 0;
  let placed: Promise<void> | undefined;

  const member = (name: string): Member => {
    const found = rig.members.get(name);
    assert.ok(found, `there is a member ${name}`);
    return found;
  };
  const connect = async (name: string): Promise<void> => {
    member(name).link.restore();
    await report(hub, name, 'True');
  };
  const comeBack = async (name: string): Promise<void> => {
    await connect(name);
    await label(hub, name, 'settling');
    await label(hub, name, 'online');
  };
  const reset = async (): Promise<void> => {
    for (const name of shops) {
      await setRing(hub, name, name === canary ? 'canary' : 'shops');
      await comeBack(name);
    }
  };
  const place = async (): Promise<void> => {
    await reset();
    await applyPlacement(hub);
  };

  return {
    rig,
    member,
    connect,
    comeBack,
    reset,
    stop: () => rig.stop(),
    async opened(change) {
      placed ??= place();
      await placed;
      applications += 1;
      const application = createApplication(rig, `app-${applications}`);
      await application.release('v1', change);
      await application.runs('v1', ...shops);
      for (const name of shops) await application.until('success is reported', name, isSucceeded);
      return application;
    },
    async engineWorks(...online) {
      releases += 1;
      const release = `r${releases}`;
      await control.release(release, ({ spec }) => {
        spec.placementRefs = [{ name: 'shops', rolloutStrategy: { type: 'All' } }];
      });
      await control.runs(release, ...online);
      for (const name of online) await control.until(`success of ${release} is reported`, name, isSucceeded);
    },
    async goAway(name, reach) {
      member(name).link.cut();
      await report(hub, name, 'Unknown');
      if (reach) await label(hub, name, reach);
    },
  };
};
