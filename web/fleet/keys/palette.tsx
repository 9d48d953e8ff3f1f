import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { tabsOf } from '../parts/rollout/tabs.tsx';
import { go, hrefOf, linkTo, route } from '../route.ts';
import { cellOf, followRows, head, labels, nodeNames, rows } from '../store.ts';
import { text } from '../text/index.ts';
import { compare } from '../view/groups.ts';
import { startWall } from '../wall/wall.ts';
import { find, type Source } from './find.ts';
import { isFinding } from './keys.ts';

const MOST = 50;

type Kind = keyof typeof text.palette.kinds;

interface Entry {
  label: string;
  /** More about it, which is not searched. */
  hint?: string;
  act: () => void;
}

/** Entries of one kind. They are made when they are shown: there may be ten thousand. */
interface Listed extends Source {
  kind: Kind;
  entryAt: (index: number) => Entry;
}

const listed = (kind: Kind, entries: readonly Entry[]): Listed => ({
  kind,
  texts: entries.map(({ label }) => label.toLowerCase()),
  entryAt: (index) => entries[index] ?? { label: '', act: () => undefined },
});

const to = (href: string) => (): void => {
  location.hash = href;
};

/** The commands that the page offers now: the rule which of them are stands where their buttons are made. */
const commands = (): Entry[] => {
  const found = new Map<string, HTMLElement>();
  for (const button of document.querySelectorAll<HTMLElement>('.head button:enabled, .why .act > button:enabled'))
    found.set(button.textContent.trim(), button);
  return Array.from(found, ([label, button]) => ({ label, act: () => button.click() }));
};

const places = (): Entry[] => {
  const pages = [
    ...(route.value.rollout ? [{ label: text.palette.overview, act: to(linkTo(undefined)) }] : []),
    { label: text.palette.wall, act: startWall },
  ];
  if (!route.value.rollout || !head.value) return pages;
  const tabs = tabsOf(head.value).map((tab) => ({
    label: text.tabs.names[tab === '' ? 'fleet' : tab],
    act: to(hrefOf({ ...route.value, tab, node: '' })),
  }));
  return [...tabs, ...pages];
};

const rollouts = (): Entry[] =>
  [...(rows.value?.values() ?? [])]
    .toSorted((a, b) => compare(a.name, b.name) || compare(a.namespace, b.namespace))
    .map((row) => ({
      label: [row.name, row.namespace, ...(row.cluster === undefined ? [] : [row.cluster])].join(' '),
      hint: row.status,
      act: to(linkTo(row)),
    }));

const nodes = (): Listed => {
  const names = nodeNames.value;
  return {
    kind: 'node',
    texts: names.map((name) => name.toLowerCase()),
    entryAt(index) {
      const node = names[index] ?? '';
      return { label: node, hint: cellOf(node)?.[1] ?? '', act: () => go({ node }) };
    },
  };
};

const values = (): Entry[] =>
  Object.entries(labels.value).flatMap(([group, found]) =>
    found.map((value) => ({
      label: `${group}=${value}`,
      act: () => go({ tab: '', node: '', group, value }),
    })),
  );

const Option = ({ id, kind, entry, isChosen, choose }: OptionProps) => {
  const row = useRef<HTMLLIElement>(null);
  useLayoutEffect(() => {
    if (isChosen) row.current?.scrollIntoView({ block: 'nearest' });
  }, [isChosen]);
  return (
    <li ref={row} id={id} role="option" aria-selected={isChosen} onClick={choose}>
      <span class="label">{entry.label}</span>
      {entry.hint && <span class="soft">{entry.hint}</span>}
      <span class="soft kind">{text.palette.kinds[kind]}</span>
    </li>
  );
};

interface OptionProps {
  id: string;
  kind: Kind;
  entry: Entry;
  isChosen: boolean;
  choose: () => void;
}

const Open = () => {
  const dialog = useRef<HTMLDialogElement>(null);
  const [query, setQuery] = useState('');
  const [at, setAt] = useState(0);
  const isRead = head.value !== undefined;
  const offered = useMemo(() => [listed('command', commands()), listed('page', places())], [isRead, query]);
  const known = rows.value;
  const named = useMemo(() => listed('rollout', rollouts()), [known]);
  const names = nodeNames.value;
  const cells = useMemo(nodes, [names]);
  const grouped = labels.value;
  const labelled = useMemo(() => listed('label', route.value.rollout ? values() : []), [grouped]);
  // A site comes before its nodes.
  const sources = [...offered, named, labelled, cells];
  const { found, all } = useMemo(() => find(sources, query, MOST), [offered, named, labelled, cells]);
  const chosen = Math.min(at, found.length - 1);

  useEffect(followRows, []);
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    // Only closing the dialog restores the focus; removing it does not.
    return () => shown?.close();
  }, []);

  const act = (index: number): void => {
    const { source, index: which } = found[index] ?? { source: 0, index: -1 };
    const entry = which < 0 ? undefined : sources[source]?.entryAt(which);
    if (!entry) return;
    // First, since what it opens takes the focus.
    dialog.current?.close();
    isFinding.value = false;
    entry.act();
  };
  const onKey = (event: KeyboardEvent): void => {
    const last = found.length - 1;
    const next = {
      ArrowDown: chosen >= last ? 0 : chosen + 1,
      ArrowUp: chosen <= 0 ? last : chosen - 1,
      PageDown: Math.min(last, chosen + 10),
      PageUp: Math.max(0, chosen - 10),
    }[event.key];
    if (event.key === 'Enter' && !event.isComposing) act(chosen);
    else if (next === undefined) return;
    else setAt(next);
    event.preventDefault();
  };
  return (
    <dialog
      ref={dialog}
      class="palette"
      aria-label={text.palette.title}
      onClose={({ currentTarget }) => {
        // It comes late: by now, another one may be open.
        if (currentTarget.isConnected) isFinding.value = false;
      }}
      onClick={(event) => {
        if (event.target === dialog.current) dialog.current?.close();
      }}
    >
      <input
        type="text"
        role="combobox"
        aria-label={text.palette.title}
        aria-expanded={found.length > 0}
        aria-controls="palette-found"
        aria-autocomplete="list"
        aria-activedescendant={found.length > 0 ? `palette-${chosen}` : undefined}
        autocomplete="off"
        spellcheck={false}
        placeholder={text.palette.hint}
        value={query}
        onInput={(event) => {
          setQuery(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKey}
      />
      <ul id="palette-found" role="listbox" aria-label={text.palette.found}>
        {found.map(({ source, index }, position) => {
          const from = sources[source];
          return (
            from && (
              <Option
                key={`${from.kind} ${from.texts[index]}`}
                id={`palette-${position}`}
                kind={from.kind}
                entry={from.entryAt(index)}
                isChosen={position === chosen}
                choose={() => act(position)}
              />
            )
          );
        })}
      </ul>
      <p class="soft" role="status">
        {text.palette.count(found.length, all)}
      </p>
    </dialog>
  );
};

/** Finds what the page can show or do, by its name. */
export const Palette = () => (isFinding.value ? <Open /> : null);
