import { memoize } from '../../memoize.ts';
import { at, type Json, recordOf, without } from '../json.ts';

// Field names of core/v1 and events.k8s.io/v1, which share their storage.
const NAMES: readonly (readonly [string, string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['reportingComponent', 'reportingController'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
];

const renamed = (object: Json, apiVersion: string, from: 0 | 1): Json => {
  const map = new Map(NAMES.map((pair) => [pair[from], pair[1 - from] ?? '']));
  const result: Record<string, unknown> = {};
  for (const key in object) result[map.get(key) ?? key] = object[key];
  result.apiVersion = apiVersion;
  return result;
};

export const eventFromStorage = memoize((event: Json): Json => {
  // core/v1 always writes these, events.k8s.io/v1 only if they aren't empty.
  const empty = ['reportingComponent', 'reportingInstance'].filter((name) => event[name] === '');
  return renamed(without({ source: {}, ...event }, ...empty), 'events.k8s.io/v1', 0);
});

/** Converts an events.k8s.io/v1 Event to its stored form. */
export const eventToStorage = (event: Json): Json => {
  const stored = renamed(event, 'v1', 1);
  return { ...stored, source: recordOf(at(stored, 'source')) };
};
