import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { pods } from '../../kube/index.ts';
import type { Scenario } from './scenario.ts';

export const conditionOf = (pod: Pod | undefined) =>
  pod?.status?.conditions?.find(({ type }) => type === 'PodNeedUpgrade');

/** What each node's pod says: `True NewRevision v2`. */
export const announcements = ({ api }: Scenario): Record<string, string> =>
  Object.fromEntries(
    (api.objects.all(pods) as Pod[])
      .map((pod): [string, string] => {
        const { status, reason, message = '' } = conditionOf(pod) ?? {};
        const text = status ? `${status} ${reason} ${message.replace('controllerrevision: ', '')}` : 'nothing';
        return [pod.spec?.nodeName ?? '', text];
      })
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );

export const patches = ({ api }: Scenario): number => api.sent('patch', 'pods').length;

export const onEveryNode = (text: string, nodes = 3): Record<string, string> =>
  Object.fromEntries(Array.from({ length: nodes }, (_, index) => [`n${index + 1}`, text]));
