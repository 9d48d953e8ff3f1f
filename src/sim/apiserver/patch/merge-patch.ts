import { isRecord } from '../value/index.ts';

/** RFC 7386: null takes a field away, objects merge, everything else replaces. */
export const mergePatch = (target: unknown, patch: unknown): unknown => {
  if (!isRecord(patch)) return patch;
  const base = isRecord(target) ? target : {};
  const result: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(patch)) {
    if (value === undefined) continue;
    if (value === null) delete result[key];
    else result[key] = mergePatch(base[key], value);
  }
  return result;
};
