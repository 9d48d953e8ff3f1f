import type { Outcome } from './servers.ts';

/** Differences that don't matter, with their replacements. */
const RULES: readonly (readonly [RegExp, string])[] = [
  [/"serverAddress": "127.0.0.1:\d+"/g, '"serverAddress": "SERVER"'],
  [/https:\/\/127\.0\.0\.1:\d+/g, 'https://SERVER'],
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UID'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, 'TIME'],
  [/[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g, 'TIME'],
  [/resourceVersion: "\d+"/g, 'resourceVersion: "RV"'],
  [/"resourceVersion": ?"\d+"/g, '"resourceVersion":"RV"'],
  [/resource version: \d+ \(\d+\)/g, 'resource version: RV (RV)'],
  [/ResourceVersion in (precondition|object meta): \d+/g, 'ResourceVersion in $1: RV'],
  [/ResourceVersion in record \(\d+\)/g, 'ResourceVersion in record (RV)'],
  [/kube-api-access-[a-z0-9]{5}/g, 'kube-api-access-RAND'],
  [/\b(gen-(?:A_)?)[a-z0-9]{5}\b/g, '$1RAND'],
  [/(Too large resource version: \d+, current: )\d+/g, '$1RV'],
  // A real API server that starts slowly reports this of its own Service.
  [/^.*ClusterIPNotAllocated.*\n?/gm, ''],
  // Ages in table cells, as kubectl shows them and as the response has them.
  [/(?<=[\s"])\d+[smh](\d+s)?(?=[\s"]|$)/gm, 'AGE'],
  [/10\.96\.\d+\.\d+/g, 'CLUSTERIP'],
  [/"continue": ?"[^"]+"/g, '"continue":"TOKEN"'],
  // Go prints a diff below the error message.
  [/(\(allow it to be set to 1 if it was previously negative\))(?:\\.|[^"\\])*(?=",\n)/g, '$1'],
  [/^(The .*\(allow it to be set to 1 if it was previously negative\))[\s\S]*$/, '$1'],
  // The whole object, in Go's field order.
  [/(patch: Invalid value: )[\s\S]*(?=: json: cannot)/g, '$1OBJECT'],
  // Added by the policy that the real test cluster needs for its simulated nodes.
  [/^ *sim\.edgeset\.io\/power.*\n/gm, ''],
  [/sim\.edgeset\.io\/power=on,?/g, ''],
  // kubectl pads columns to the widest cell, including ages.
  [/[ \t]+/g, ' '],
  [/ $/gm, ''],
];

const normalText = (text: string): string => RULES.reduce((left, [pattern, into]) => left.replace(pattern, into), text);

const byPlace = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

// The label is added by the policy that the real test cluster needs for its simulated nodes.
const DROPPED = new Set(['sim.edgeset.io/power', 'managedFields', 'creationTimestamp', 'selfLink', 'description']);

const isEmptyLabels = (name: string, item: unknown): boolean =>
  name === 'labels' && typeof item === 'object' && item !== null && Object.keys(item).every((key) => DROPPED.has(key));

const strip = (value: unknown): unknown => {
  if (Array.isArray(value)) return (value as unknown[]).map(strip);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, item]) => !DROPPED.has(name) && !isEmptyLabels(name, item))
      .toSorted(([a], [b]) => byPlace(a, b))
      .map(([name, item]) => [name, strip(item)]),
  );
};

const jsonLines = (text: string): string => {
  try {
    return JSON.stringify(strip(JSON.parse(text)), undefined, 1);
  } catch {
    const lines = text.split('\n').filter((line) => line !== '');
    if (lines.length === 0 || !lines.every((line) => line.startsWith('{') && line.endsWith('}'))) return text;
    return lines.map((line) => JSON.stringify(strip(JSON.parse(line)), undefined, 1)).join('\n');
  }
};

/** The real server reports lists of errors in random order. */
const sortFaults = (text: string): string =>
  text.replace(/(?:^\* .*\n?)+/gm, (lines) => `${lines.trim().split('\n').toSorted(byPlace).join('\n')}\n`);

/** The outcome without the parts that may differ. */
export const normalize = ({ code, out, err }: Outcome): { code: number; out: string; err: string } => ({
  code,
  out: normalText(jsonLines(out)),
  err: normalText(sortFaults(err)),
});
