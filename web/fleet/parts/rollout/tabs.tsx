import { hrefOf, route, type Tab } from '../../route.ts';
import { text } from '../../text/index.ts';
import type { RolloutHead } from '../../types.ts';

export const tabsOf = ({ stages }: Pick<RolloutHead, 'stages'>): readonly Tab[] => [
  '',
  ...(stages ? (['stages'] as const) : []),
  'timeline',
  'history',
  'events',
  'settings',
];

/** The parts of a rollout's page. */
export const Tabs = ({ head }: { head: RolloutHead }) => {
  const { tab: shown } = route.value;
  return (
    <nav class="tabs" aria-label={text.tabs.title}>
      {tabsOf(head).map((tab) => (
        <a key={tab} href={hrefOf({ ...route.value, tab, node: '' })} aria-current={tab === shown ? 'page' : undefined}>
          {text.tabs.names[tab === '' ? 'fleet' : tab]}
          {tab === 'history' && <span class="soft"> {head.history.length}</span>}
        </a>
      ))}
    </nav>
  );
};
