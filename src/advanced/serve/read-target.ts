import { newestRevision, type RecordedRevision } from '../../controller/index.ts';
import type { TargetRevision } from '../../rollout/index.ts';
import type { AdvancedView } from '../advanced-view.ts';
import { planInPlace } from '../in-place/index.ts';

/**
 * The revision that a DaemonSet asks for, by what its leader has recorded: the newest, once the status speaks of the
 * present generation. Templates are compared as they are recorded, with all defaults.
 */
export const readTarget = (
  { status, generation, policy }: Pick<AdvancedView, 'status' | 'generation' | 'policy'>,
  owned: readonly RecordedRevision[],
): TargetRevision | undefined => {
  if ((status.observedGeneration ?? 0) < generation) return undefined;
  const newest = newestRevision(owned);
  if (!newest || !policy.policy.inPlace) return newest;
  const wanted = owned.find(({ name }) => name === newest.name)?.template;
  const from = owned.filter(
    ({ name, template }) =>
      name !== newest.name && template && wanted && planInPlace(template, wanted).kind === 'in-place',
  );
  return { ...newest, inPlaceFrom: new Set(from.map(({ hash }) => hash)) };
};
