import assert from 'node:assert/strict';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { Manager } from '../cluster.ts';
import {
  type Case,
  leaderElectionArgs,
  leaderElectionArgsFor,
  leaderOf,
  leadershipLossLogs,
  section,
} from '../kit/index.ts';
import type { Link } from '../link.ts';
import { countOf, reservation, untilDone, untilOneMore, updateMethods } from './update-methods.ts';

/** What a leader sends is on its way for so long: time to find out that it was sent. */
const LATENCY_MS = 800;
/** The lease is renewed through that, too. */
const patient = leaderElectionArgsFor(8);

/** How often a manager received the response to a reservation. */
const reservedBy = async ({ metrics }: Manager): Promise<number> => {
  const text = await (await fetch(`${metrics}/metrics`)).text();
  const line = /^edgeset_\w*reservations\w*\{.*result="written".*\} (\d+)$/m.exec(text);
  return Number(line?.[1] ?? 0);
};

/** Slots whose update has not reached the API server. */
const heldBack = async (c: Case): Promise<number> => {
  const acted = new Set((await c.updates()).map(({ response }) => (response as Pod | undefined)?.metadata?.uid));
  const { reservations = [] } = await c.status();
  return reservations.filter(({ podUID, carriedOut }) => !carriedOut && !acted.has(podUID)).length;
};

/** Stalls the link of the case's first manager while updates are in flight on it. */
const holdActsBack = async (c: Case, link: Link): Promise<void> => {
  for (;;) {
    const reserved = await reservedBy(c.manager);
    // What slots are for is sent in the turn that learns of them.
    await c.until('it has slots', async () => (await reservedBy(c.manager)) > reserved, 60_000, 10);
    link.stall();
    const stalledAt = performance.now();
    await c.until('what had passed is told', () => performance.now() - stalledAt > LATENCY_MS);
    if ((await heldBack(c)) > 0) return;
    // They had passed: with the next ones.
    link.restore();
    link.slow({ latencyMs: LATENCY_MS });
  }
};

export const leaders = section(
  'Two leaders of Advanced DaemonSets',
  (rule) => {
    for (const { name, shape } of updateMethods) {
      rule(
        `a leader that is stopped during an update ${name} and continues beside its successor does no harm`,
        async (c) => {
          await c.rolledOut(shape);
          const first = await leaderOf(c);
          await c.startManager({ args: leaderElectionArgs });
          const before = await countOf(c, reservation);
          await c.setImage('app:v2');
          await untilOneMore(c, reservation, before + 1);
          c.manager.pause();
          const acts = (await c.updates()).length;
          await c.until('the other leads', async () => (await leaderOf(c)) !== first);
          await c.untilUpdates(Math.min(acts + 2, c.nodes.length));
          c.manager.resume();
          await untilDone(c);
          assert.notEqual(await leaderOf(c), first);
        },
        { nodes: 10, manager: leaderElectionArgs, expected: leadershipLossLogs },
      );

      rule(
        `writes that a leader sent in an update ${name} and that arrive under its successor do no harm`,
        async (c) => {
          const link = await c.cluster.link();
          await c.startManager({ link, args: patient });
          await c.rolledOut(shape);
          const first = await leaderOf(c);
          link.slow({ latencyMs: LATENCY_MS });
          await c.setImage('app:v2');
          await holdActsBack(c, link);
          const before = (await c.calls()).length;
          await c.startManager({ args: patient });
          await c.until('the other leads', async () => (await leaderOf(c)) !== first);
          await c.until('it writes to pods', async () =>
            (await c.calls())
              .slice(before)
              .some(
                ({ resource, verb }) =>
                  /^pods\b/.test(resource) && (verb === 'patch' || verb === 'delete' || verb === 'create'),
              ),
          );
          link.restore();
          await untilDone(c);
        },
        { nodes: 12, manager: 'none', expected: leadershipLossLogs },
      );
    }
  },
  { kind: 'advanced' },
);
