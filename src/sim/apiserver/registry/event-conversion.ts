import { at, type Json, recordOf, without } from '../json.ts';

// One store, two faces: the core API's names on the left, those of events.k8s.io on the right.
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

const views = new WeakMap<Json, Json>();

/** A stored (core) event as events.k8s.io shows it. */
export const eventFromStorage = (event: Json): Json => {
  let view = views.get(event);
  if (!view) {
    // The older version always writes these, this one only when they say something.
    const empty = ['reportingComponent', 'reportingInstance'].filter((name) => event[name] === '');
    view = renamed(without({ source: {}, ...event }, ...empty), 'events.k8s.io/v1', 0);
    views.set(event, view);
  }
  return view;
};

/** An event of events.k8s.io as it is stored. */
export const eventToStorage = (event: Json): Json => {
  const stored = renamed(event, 'v1', 1);
  return { ...stored, source: recordOf(at(stored, 'source')) };
};
