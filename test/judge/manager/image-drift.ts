import type { Condition } from 'kubernetes-types/meta/v1.d.ts';
import type { Call } from '../../simulation/network/call.ts';
import type { Check, CheckContext } from '../check.ts';
import { tolerances } from '../tolerances.ts';

const KEY = 'edgeset.io/on-image-drift';
const RESUME = 'edgeset.io/resume';
const ARCH = 'kubernetes.io/arch';

/** Whether images differ, as one process has observed it, and since when. */
interface Knowledge {
  differ: boolean;
  since: number;
}

/**
 * S16: that images differ is said only of nodes of one architecture that report different IDs. S9: where the user wants a halt for that,
 * no update begins while it is so. Both by what the sender had observed.
 */
export const createImageDriftCheck = ({ report, actual, viewOf, now, rolloutName }: CheckContext) => {
  /** The first ID of each image: most runs see no other. */
  const firstId = new Map<string, string>();
  let hasSeveral = false;
  const knowledge = new Map<string, Knowledge>();
  const forbidden = new WeakSet<Call>();

  const differFor = (process: string): boolean => {
    const view = viewOf(process);
    const known = new Map<string, string>();
    for (const [name, { node }] of view.nodes)
      for (const { hash, images } of view.podsOn(name))
        for (const [image, id] of hash === actual.target ? images : []) {
          const key = `${node.metadata?.labels?.[ARCH]} ${image}`;
          if (id === '') continue;
          if ((known.get(key) ?? id) !== id) return true;
          known.set(key, id);
        }
    return false;
  };

  /** Brings up to date what the process knows, and returns it. */
  const look = (process: string): Knowledge => {
    const differ = hasSeveral && differFor(process);
    const before = knowledge.get(process);
    const after = before?.differ === differ ? before : { differ, since: now() };
    knowledge.set(process, after);
    return after;
  };

  return {
    onCommit({ type, resource, object }) {
      if (hasSeveral || resource.plural !== 'pods' || type === 'DELETED') return;
      for (const [image, id] of actual.pods.get(object.metadata.uid)?.images ?? []) {
        if (id === '') continue;
        if ((firstId.get(image) ?? id) === id) firstId.set(image, id);
        else hasSeveral = true;
      }
    },
    onWatchEvent(process, _watch, plural) {
      if (hasSeveral && (plural === 'pods' || plural === 'nodes')) look(process);
    },
    onSend({ process, resource, ref, body }) {
      if (resource?.plural !== 'daemonrollouts' || ref?.name !== rolloutName) return;
      const { conditions = [] } =
        (body as { status?: { conditions?: readonly Condition[] } } | undefined)?.status ?? {};
      if (!conditions.some(({ type, status }) => type === 'ImageDrift' && status === 'True')) return;
      report.check('S16');
      const { differ, since } = look(process);
      if (!differ && now() - since > tolerances.statusAfterRefusal.ms)
        report.violation(
          'S16',
          `${process} reports that images differ between nodes, and has observed that they do not`,
        );
    },
    onUpdateSent({ call }) {
      const { process } = call;
      const { annotations = {} } = viewOf(process).daemonSet?.metadata ?? {};
      if (!hasSeveral || annotations[KEY] !== 'halt' || annotations[RESUME] !== undefined) return;
      report.check('S9');
      const { differ, since } = look(process);
      // A process may have fallen asleep before the call left it.
      if (differ && call.at - since > tolerances.decision.ms) forbidden.add(call);
    },
    // The preconditions may refuse what a process sends that was asleep.
    onUpdateExecuted({ call, what }) {
      if (forbidden.has(call))
        report.violation('S9', `${what}, although images differ between nodes, which halts the rollout`);
    },
  } satisfies Check;
};
