import { controllingDaemonSet } from '../../controller/index.ts';
import { advancedDaemonSetApi } from '../../kinds/advanced/index.ts';
import { type CallOptions, isKubeError } from '../../kube/index.ts';
import { OptionError } from '../../runtime/index.ts';
import { type DaemonRollout, daemonRolloutApi } from '../../words/index.ts';
import type { Connection } from '../connection.ts';
import { CommandError } from '../errors.ts';
import { advanced } from './advanced.ts';
import type { DaemonSetKind } from './kind.ts';
import { native } from './native.ts';

export const kinds: readonly DaemonSetKind[] = [native, advanced];

/** What the user named. */
export interface Named {
  /** Undefined for a bare name, which can be of either kind. */
  kind: DaemonSetKind | undefined;
  name: string;
}

interface KindNames {
  kind: DaemonSetKind;
  /** Names that kubectl accepts without a group. */
  words: readonly string[];
  /** Names that kubectl accepts before the group. */
  withGroup: readonly string[];
  group: string;
  versions: readonly string[];
}

const daemonSet = ['daemonset', 'daemonsets'];
const { shortNames, group, versions } = advancedDaemonSetApi;
const kindNames: readonly KindNames[] = [
  { kind: native, words: ['ds', ...daemonSet], withGroup: ['ds', ...daemonSet], group: 'apps', versions: ['v1'] },
  { kind: advanced, words: shortNames, withGroup: [...shortNames, ...daemonSet], group, versions },
];

const { plural, singular, shortName, group: rolloutGroup, version } = daemonRolloutApi;
const ROLLOUTS: readonly string[] = [plural, singular, shortName];

/** `KIND`, `KIND.GROUP` or `KIND.VERSION.GROUP`, as in kubectl. */
const isOf = (text: string, { words, withGroup, ...api }: Omit<KindNames, 'kind'>): boolean => {
  const [word = '', ...rest] = text.split('.');
  if (rest.length === 0) return words.includes(word);
  const place = rest.join('.');
  return withGroup.includes(word) && [api.group, ...api.versions.map((one) => `${one}.${api.group}`)].includes(place);
};

/** The kind and the name of the DaemonSet that a DaemonRollout of this name is for, as far as a name can say. */
const readRolloutName = (text: string): { kind: DaemonSetKind; name: string } => {
  const suffix = advanced.rolloutName('');
  return text.endsWith(suffix) ? { kind: advanced, name: text.slice(0, -suffix.length) } : { kind: native, name: text };
};

/** The kind and the name of the DaemonSet that owns a DaemonRollout. Only of an orphaned one, its name has to do. */
export const ownerOfRollout = (rollout: Pick<DaemonRollout, 'metadata'>): { kind: DaemonSetKind; name: string } => {
  for (const kind of kinds) {
    const owner = controllingDaemonSet(rollout, kind.resource);
    if (owner) return { kind, name: owner.name };
  }
  return readRolloutName(rollout.metadata.name ?? '');
};

/** The kind before the slash, in any of kubectl's spellings. `rollout` is the DaemonRollout itself. */
export const readKind = (text: string): DaemonSetKind | 'rollout' | undefined => {
  const typed = text.toLowerCase();
  const rollout = { words: ROLLOUTS, withGroup: ROLLOUTS, group: rolloutGroup, versions: [version] };
  if (isOf(typed, rollout)) return 'rollout';
  return kindNames.find((spelling) => isOf(typed, spelling))?.kind;
};

/** Parses `NAME`, or `KIND/NAME` in any of kubectl's spellings. Throws an `OptionError` for other kinds. */
export const readName = (text: string): Named => {
  const slash = text.indexOf('/');
  const name = text.slice(slash + 1);
  // The API server would reject other names, too, but with a less helpful error.
  if (/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(name)) {
    if (slash < 0) return { kind: undefined, name };
    const kind = readKind(text.slice(0, slash));
    if (kind) return kind === 'rollout' ? readRolloutName(name) : { kind, name };
  }
  throw new OptionError(
    `"${text}"`,
    'is not the name of a DaemonSet: give NAME or ds/NAME, or ads/NAME for an Advanced DaemonSet',
  );
};

/** Whether names may follow this word, as in `ds web`. */
export const isKind = (word: string): boolean => !word.includes('/') && readKind(word) !== undefined;

/** As in kubectl, `ds web` is `ds/web`. */
export const joinName = (word: string, name: string): string => {
  if (isKind(word)) return `${word}/${name}`;
  throw new OptionError(
    `"${word} ${name}"`,
    'does not name one DaemonSet: give NAME or ds NAME, or ads NAME for an Advanced DaemonSet',
  );
};

/** As in kubectl, `ds web other` is `ds/web ds/other`. */
export const readNames = (words: readonly string[]): Named[] => {
  const [first = '', ...rest] = words;
  return (rest.length > 0 && isKind(first) ? rest.map((name) => `${first}/${name}`) : words).map(readName);
};

/** Whether the user named this DaemonSet; nothing named is all of them. */
export const isNamed = (named: readonly Named[], kind: DaemonSetKind, name: string): boolean =>
  named.length === 0 || named.some((one) => one.name === name && (one.kind ?? kind) === kind);

export const ambiguousName = (namespace: string, name: string): CommandError =>
  new CommandError(
    'ChoiceNeeded',
    `there are two DaemonSets ${namespace}/${name}: give ${kinds.map((kind) => `${kind.short}/${name} for the ${kind === native ? 'native' : 'Advanced'} one`).join(', or ')}`,
  );

/** The kind of a bare name is the one that has a DaemonSet of this name and that the user can read. Default: native. */
export const findKind = async (
  { client, namespace }: Connection,
  { kind: named, name }: Named,
  call: CallOptions = {},
): Promise<DaemonSetKind> => {
  if (named) return named;
  const has = async ({ resource }: DaemonSetKind): Promise<boolean> => {
    try {
      await client.get(resource, { namespace, name }, call);
      return true;
    } catch (error) {
      if (isKubeError(error, 'NotFound', 'Forbidden')) return false;
      throw error;
    }
  };
  const there = await Promise.all(kinds.map(has));
  const [first, ...others] = kinds.filter((_, index) => there[index]);
  if (others.length > 0) throw ambiguousName(namespace, name);
  return first ?? native;
};
