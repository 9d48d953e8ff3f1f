import { errorText, type Logger } from '../runtime/index.ts';
import type { Owner } from './types.ts';

/**
 * Where the agent failed to compute something. `pod`: a pod's copy for the cache. `terms`: the settings of a DaemonSet.
 * `record`: what is known about an update. `view`: what its owner sees. `step`: what to do next. `check`: whether the API
 * server's present state allows the update.
 */
export const troubleParts = ['pod', 'terms', 'record', 'view', 'step', 'check'] as const;
export type TroublePart = (typeof troubleParts)[number];

export interface Trouble {
  part: TroublePart;
  /** Namespace and name of the pod or DaemonSet. */
  of: string;
  /** The DaemonSet whose update stops because of it; undefined for a pod of none. */
  owner: Owner | undefined;
  message: string;
}

/** What the agent cannot compute at present, so that it does not act on it. */
export interface Troubles {
  /** Returns the reason as text. It is logged when it begins, and when the reason changes. */
  report(part: TroublePart, of: string, error: unknown, owner?: Owner): string;
  /** It could be computed again, or is gone. */
  clear(part: TroublePart, of: string): void;
  /** Clears those of things that are gone. */
  keep(part: TroublePart, exists: (of: string) => boolean): void;
  all(): readonly Trouble[];
  /** Calls it for all present troubles, and for each that begins or changes. */
  onReport(listener: (trouble: Trouble) => void): void;
}

/** Enough to find the place in the source; the message says the rest. */
const STACK_LINES = 3;

const LONGEST = 300;

const stackOf = (error: unknown): { stack?: string[] } =>
  error instanceof Error && error.stack !== undefined
    ? {
        stack: error.stack
          .split('\n')
          .filter((line) => line.startsWith('    at '))
          .slice(0, STACK_LINES)
          .map((line) => line.trim()),
      }
    : {};

export const createTroubles = (log: Logger): Troubles => {
  const present = new Map<string, Trouble>();
  let listener: ((trouble: Trouble) => void) | undefined;
  const clear = (part: TroublePart, of: string): void => {
    if (present.delete(`${part} ${of}`)) log.info('it can be computed again', { part, of });
  };
  return {
    report(part, of, error, owner) {
      const message = errorText(error).slice(0, LONGEST);
      const key = `${part} ${of}`;
      const before = present.get(key);
      if (before?.message === message && before.owner?.uid === owner?.uid) return message;
      const trouble = { part, of, owner, message };
      present.set(key, trouble);
      log.error('something cannot be computed: nothing is updated because of it', {
        part,
        of,
        error,
        ...stackOf(error),
      });
      listener?.(trouble);
      return message;
    },
    clear,
    keep(part, exists) {
      for (const trouble of present.values()) if (trouble.part === part && !exists(trouble.of)) clear(part, trouble.of);
    },
    all: () => [...present.values()],
    onReport(next) {
      listener = next;
      for (const trouble of present.values()) next(trouble);
    },
  };
};
