import { hrefOf, route, type Tab } from '../route.ts';
import { text } from '../text/index.ts';
import type { RolloutHead } from '../types.ts';

/** The parts of a rollout's page. */
export const Tabs = ({ head }: { head: RolloutHead }) => {
  const { tab: shown } = route.value;
  const all: readonly Tab[] = [
    '',
    ...(head.stages ? (['stages'] as const) : []),
    'timeline',
    'history',
    'events',
    'settings',
  ];
  return (
    <nav class="tabs" aria-label={text.tabs.title}>
      {all.map((tab) => (
        <a key={tab} href={hrefOf({ ...route.value, tab, node: '' })} aria-current={tab === shown ? 'page' : undefined}>
          {text.tabs.names[tab === '' ? 'fleet' : tab]}
          {tab === 'history' && <span class="soft"> {head.history.length}</span>}
        </a>
      ))}
    </nav>
  );
};
