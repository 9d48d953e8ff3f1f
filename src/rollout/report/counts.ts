import type { Summary } from '../decision/decide.ts';
import type { Ledger } from '../fleet/ledger-types.ts';
import { causeCounts, type Tally } from '../fleet/tally.ts';
import type { NodeRecord } from '../node/record.ts';
import { type Scope, scopeLimit } from '../plan/scopes.ts';

type Counts = Pick<Tally, 'phases'> & { causes: ReturnType<typeof causeCounts> };

/** The scope whose limit keeps a waiting node from being updated now; undefined without one. */
export const fullScopeOf = ({ status: { cause, scopes } }: NodeRecord): Scope | undefined =>
  cause === 'available' ? scopes.all.find((scope) => scope.occupied >= scopeLimit(scope)) : undefined;

/**
 * The nodes by phase and cause, for people. Nodes that wait for their group or stage to have room are told as held: which they
 * are changes with every update, so the ledger has them as outdated.
 */
export const countsOf = (
  { tally }: Pick<Ledger, 'tally'>,
  { withoutRoom = 0 }: Partial<Pick<Summary, 'withoutRoom'>> = {},
): Counts => {
  if (withoutRoom === 0) return { phases: tally.phases, causes: causeCounts(tally) };
  const { phases } = tally;
  const causes = new Map(tally.causes);
  causes.set('available', (causes.get('available') ?? 0) - withoutRoom);
  causes.set('group', withoutRoom);
  return {
    phases: { ...phases, outdated: phases.outdated - withoutRoom, held: phases.held + withoutRoom },
    causes: causeCounts({ ...tally, causes }),
  };
};
