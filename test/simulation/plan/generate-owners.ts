import { type Generator } from '../../support/index.ts';
import type { OwnerRequest } from '../processes/owner.ts';
import type { Operation } from './plan.ts';

export interface OwnersOptions {
  chance: Generator;
  one: <T>(items: readonly T[]) => T;
  nodes: number;
  /** When versions are released, ms; the last one is the version that all nodes must reach. */
  releases: readonly number[];
  put: (at: number, operation: Operation) => void;
}

const asks: readonly OwnerRequest[] = [
  { ask: 'upgrade' },
  { ask: 'upgrade' },
  { ask: 'queue' },
  { ask: 'approve' },
  { ask: 'approve' },
  { ask: 'reject' },
  { ask: 'postpone', ms: 20_000 },
];

/** Adds the requests of owners, and the faults of their agents. */
export const addOwnerSteps = ({ chance, one, nodes, releases, put }: OwnersOptions): void => {
  const last = releases.at(-1) ?? 0;
  const each = (work: (node: string) => void): void => {
    for (let index = 0; index < nodes; index += 1) work(`node-${index}`);
  };
  /** At least one owner approves, or faults would wait for updates that never begin. */
  const agrees = (node: string, share: number): boolean => chance.happens(share) || node === 'node-0';
  each((node) => put(1_000, { do: 'auto-approve', node, agrees: agrees(node, 0.4) }));
  for (const release of releases.slice(0, -1)) {
    each((node) => {
      if (chance.happens(0.6)) put(release + chance.between(500, 15_000), { do: 'owner', node, ask: one(asks) });
      if (!chance.happens(0.2)) return;
      const at = release + chance.between(0, 8_000);
      const how = one(['crash', 'cut-power', 'stop', 'cut', 'skew'] as const);
      if (how === 'skew') put(at, { do: 'agent', node, how, ms: chance.between(-600_000, 600_000) });
      else if (how === 'stop' || how === 'cut')
        put(at, { do: 'agent', node, how, forMs: chance.between(1_000, 60_000) });
      else put(at, { do: 'agent', node, how });
    });
    if (chance.happens(0.1))
      put(release + 1_000, { do: 'deadline', inMs: chance.between(0, 20_000), spreadSeconds: chance.between(0, 30) });
  }
  each((node) => put(last + 500, { do: 'auto-approve', node, agrees: agrees(node, 0.75) }));
  if (chance.happens(0.15)) put(last + 1_000, { do: 'deadline', inMs: chance.between(0, 60_000), spreadSeconds: 30 });
};
