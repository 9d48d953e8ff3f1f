import type { Check, CheckContext } from './check.ts';
import { nodesOf, termsOf } from './terms.ts';

export interface HaltOptions {
  /** Who believes that it leads. */
  believers: () => readonly string[];
  /** Nodes that count against a version, as a process was told. */
  against: (process: string, rollout: number, hash: string | undefined) => { failed: readonly string[] };
}

/** A leader to which nothing is done says so by then. */
const TOLD_WITHIN_MS = 60_000;

const MODEL = 'apps.openyurt.io/update-strategy';

/** S13: a version whose failures hold every slot is halted, so that people are told: nothing changes by waiting. */
export const createHaltCheck = (context: CheckContext, { believers, against }: HaltOptions): Check => {
  const { report, actual, now, viewOf, processes, rolloutName } = context;
  const { check, violation } = report;
  let halted = false;
  let held: { leader: string; since: number } | undefined;

  /** Nodes that hold every slot, by what the only leader was told; none where something else has a say. */
  const holding = (leader: string): readonly string[] => {
    const view = viewOf(leader);
    const { daemonSet } = view;
    const { metadata } = daemonSet ?? {};
    if (!daemonSet || metadata?.uid !== actual.daemonSet?.metadata?.uid) return [];
    if (metadata?.generation !== actual.daemonSet?.metadata?.generation) return [];
    const annotations = metadata?.annotations ?? {};
    // Whoever resumes puts up with what has failed so far, and owners keep to no budget.
    if (annotations['edgeset.io/resume'] !== undefined || annotations[MODEL]?.toLowerCase() === 'ota') return [];
    const { limit, observed, paused } = termsOf(daemonSet);
    if (!observed || paused) return [];
    const { failed } = against(leader, actual.rolloutOf(daemonSet), actual.target);
    const budget = nodesOf(limit, view.nodes.size);
    return budget > 0 && failed.length >= budget ? failed : [];
  };

  const look = (): void => {
    const [leader, ...others] = believers();
    const state = processes().find(({ name }) => name === leader);
    const isWell = leader !== undefined && others.length === 0 && state?.running && state.up;
    const nodes = isWell && !halted ? holding(leader) : [];
    if (leader === undefined || nodes.length === 0) {
      held = undefined;
      return;
    }
    if (held?.leader !== leader) held = { leader, since: now() };
    check('S13');
    if (now() - held.since <= TOLD_WITHIN_MS) return;
    held = undefined;
    violation('S13', `${nodes.join(', ')} hold every slot, and the rollout is not halted`);
  };

  return {
    beforeCommit: look,
    onCommit({ resource, object, type }) {
      if (resource.plural !== 'daemonrollouts' || object.metadata.name !== rolloutName) return;
      halted = type !== 'DELETED' && (object.status as { halted?: unknown } | undefined)?.halted !== undefined;
    },
    onOperation() {
      held = undefined;
    },
  };
};
