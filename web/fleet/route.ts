import { signal } from '@preact/signals';
import { fragment } from './key.ts';
import { bySeverity, type NodeCell, type RolloutHead, type RolloutRef } from './types.ts';
import { type Filter, filters } from './view/overview.ts';

type Phase = keyof RolloutHead['phases'];
type Owner = NodeCell[7];

/** No label has such a key. */
export const BY_STAGE = '.stage';
export const UNGROUPED = '.none';

export const tabs = ['', 'stages', 'timeline', 'history', 'events', 'settings'] as const;
export type Tab = (typeof tabs)[number];

/** What the address shows, so that it can be kept and sent to others. */
export interface Route {
  rollout: RolloutRef | undefined;
  /** Label to group by, or one of the two below; empty: by stage where there are stages. */
  group: string;
  node: string;
  phase: Phase | '';
  /** Of the label that is grouped by: only nodes with this value. */
  value: string;
  /** How far the owners are whose nodes are shown. */
  owner: Owner;
  /** Of names. */
  search: string;
  /** The part of a rollout's page; empty for its fleet. */
  tab: Tab;
  /** Groups by name instead of the worst first. */
  sort: 'name' | '';
  /** Which rollouts the overview shows; empty for all. */
  only: Filter | '';
  /** A screen on a wall: the rollouts take turns. */
  wall: 'on' | '';
}

/** Text that is not encoded as an address is stays as it is: somebody may have typed it, or cut a link off. */
const decode = (part: string): string => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
};

const parse = (hash: string): Route => {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  const [namespace, kind, name] = path.split('/').map(decode);
  const values = new URLSearchParams(query);
  const cluster = values.get('cluster') ?? undefined;
  return {
    rollout: namespace && kind && name ? { cluster, namespace, kind, name } : undefined,
    group: values.get('group') ?? '',
    node: values.get('node') ?? '',
    phase: bySeverity.find((phase) => phase === values.get('phase')) ?? '',
    value: values.get('value') ?? '',
    owner: (values.get('owner') ?? '') as Owner,
    search: values.get('search') ?? '',
    tab: tabs.find((tab) => tab === values.get('tab')) ?? '',
    sort: values.get('sort') === 'name' ? 'name' : '',
    only: filters.find((filter) => filter === values.get('only')) ?? '',
    wall: values.has('wall') ? 'on' : '',
  };
};

export const hrefOf = ({ rollout, ...rest }: Route): string => {
  const path = rollout ? [rollout.namespace, rollout.kind, rollout.name].map(encodeURIComponent).join('/') : '';
  const values = new URLSearchParams(
    Object.entries({ cluster: rollout?.cluster ?? '', ...rest }).filter(([, value]) => value !== ''),
  );
  return `#/${path}${values.size > 0 ? `?${values.toString()}` : ''}`;
};

export const route = signal<Route>(parse(fragment()));
addEventListener('hashchange', () => {
  route.value = parse(fragment());
});

/** Changes a part of the address. Only another rollout, tab or node is a step of the browser's history. */
export const go = (change: Partial<Route>): void => {
  const next = { ...route.value, ...change };
  if ('rollout' in change || 'node' in change || 'tab' in change) {
    location.hash = hrefOf(next);
    return;
  }
  route.value = next;
  const from = location.href;
  // After the frame that shows it: browsers take some milliseconds. Meanwhile somebody may have gone elsewhere.
  requestAnimationFrame(() =>
    setTimeout(() => {
      if (route.value === next && location.href === from) history.replaceState(null, '', hrefOf(next));
    }),
  );
};

/** How nodes are grouped stays, since somebody compares rollouts by it. */
export const linkTo = (rollout: RolloutRef | undefined): string =>
  hrefOf({
    rollout,
    group: route.value.group,
    node: '',
    phase: '',
    search: '',
    tab: '',
    sort: route.value.sort,
    only: '',
    value: '',
    owner: '',
    wall: route.value.wall,
  });
