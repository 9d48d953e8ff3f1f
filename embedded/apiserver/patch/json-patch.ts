import { badRequest, StatusError } from '../errors.ts';
import { arrayOf, equal, isRecord, type Json, recordOf, textOf } from '../json.ts';

/** RFC 7386: null removes a field, objects merge, everything else replaces. */
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

// The API server's limit.
const MOST_OPERATIONS = 10_000;

/** The server reports no details; in-process callers find them in the cause. */
const cannot = (why: string): StatusError =>
  Object.assign(new StatusError('Invalid', 'the server rejected our request due to an error in our request', {}), {
    cause: new Error(why),
  });

const unescape = (step: string): string => step.replaceAll('~1', '/').replaceAll('~0', '~');

const stepsOf = (path: string): string[] => {
  if (path === '') return [];
  return path.slice(1).split('/').map(unescape);
};

/** Marks a missing value. */
const MISSING = Symbol('missing');

const read = (document: unknown, steps: readonly string[]): unknown => {
  let here = document;
  for (const step of steps) {
    if (Array.isArray(here)) here = indexOf(here, step, false) === undefined ? MISSING : arrayOf(here)[Number(step)];
    else if (isRecord(here)) here = Object.hasOwn(here, step) && here[step] !== undefined ? here[step] : MISSING;
    else return MISSING;
  }
  return here;
};

const indexOf = (list: readonly unknown[], step: string, mayAppend: boolean): number | undefined => {
  if (mayAppend && step === '-') return list.length;
  if (!/^(0|[1-9]\d*)$/.test(step)) return undefined;
  const index = Number(step);
  return index < list.length || (mayAppend && index === list.length) ? index : undefined;
};

type Edit = (container: Record<string, unknown> | unknown[], step: string) => void;

/** A copy of the document with the container at the path's last step changed. */
const edit = (document: unknown, steps: readonly string[], change: Edit, fail: () => Error): unknown => {
  const [step, ...rest] = steps;
  if (step === undefined) throw fail();
  const copy: unknown[] | Record<string, unknown> = Array.isArray(document)
    ? [...arrayOf(document)]
    : isRecord(document)
      ? { ...document }
      : (() => {
          throw fail();
        })();
  if (rest.length === 0) {
    change(copy, step);
    return copy;
  }
  const inner = read(document, [step]);
  if (inner === MISSING) throw fail();
  const next = edit(inner, rest, change, fail);
  if (Array.isArray(copy)) copy[Number(step)] = next;
  else copy[step] = next;
  return copy;
};

const add = (document: unknown, steps: readonly string[], value: unknown, fail: () => Error): unknown => {
  if (steps.length === 0) return value;
  return edit(
    document,
    steps,
    (container, step) => {
      if (!Array.isArray(container)) {
        container[step] = value;
        return;
      }
      const index = indexOf(container, step, true);
      if (index === undefined) throw fail();
      container.splice(index, 0, value);
    },
    fail,
  );
};

const replace = (document: unknown, steps: readonly string[], value: unknown, fail: () => Error): unknown => {
  if (steps.length === 0) return value;
  return edit(
    document,
    steps,
    (container, step) => {
      // As on the real server, replacing a missing field adds it.
      if (Array.isArray(container)) {
        if (indexOf(container, step, false) === undefined) throw fail();
        container[Number(step)] = value;
      } else container[step] = value;
    },
    fail,
  );
};

const remove = (document: unknown, steps: readonly string[], fail: () => Error): unknown => {
  if (read(document, steps) === MISSING) throw fail();
  return edit(
    document,
    steps,
    (container, step) => {
      if (Array.isArray(container)) container.splice(Number(step), 1);
      else delete container[step];
    },
    fail,
  );
};

const apply = (document: unknown, operation: Json): unknown => {
  const op = textOf(operation.op);
  const path = textOf(operation.path);
  const from = textOf(operation.from);
  const steps = stepsOf(path);
  const missing = (verb: string, which: string) => (): Error =>
    cannot(`${verb} operation does not apply: doc is missing ${which}: missing value`);
  const lacksPath = missing(op, `path: ${JSON.stringify(path)}`);
  switch (op) {
    case 'add':
      return add(document, steps, operation.value, lacksPath);
    case 'replace':
      return replace(document, steps, operation.value, missing(op, `key: ${path}`));
    case 'remove':
      return remove(document, steps, lacksPath);
    case 'move':
    case 'copy': {
      const value = read(document, stepsOf(from));
      if (value === MISSING) throw missing(op, `from path: ${JSON.stringify(from)}`)();
      return add(op === 'move' ? remove(document, stepsOf(from), lacksPath) : document, steps, value, lacksPath);
    }
    case 'test': {
      const value = read(document, steps);
      if (!equal(value === MISSING ? undefined : value, operation.value))
        throw cannot(`testing value ${path} failed: test failed`);
      return document;
    }
    default:
      throw cannot(`there is no operation ${JSON.stringify(op)}: use add, remove, replace, move, copy or test`);
  }
};

/** RFC 6902, all or nothing. */
export const jsonPatch = (document: Json, patch: unknown): Json => {
  if (!Array.isArray(patch))
    throw badRequest(
      'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    );
  if (patch.length > MOST_OPERATIONS)
    throw new StatusError(
      'RequestEntityTooLarge',
      `The allowed maximum operations in a JSON patch is ${MOST_OPERATIONS}, got ${patch.length}`,
    );
  let result: unknown = document;
  for (const operation of patch as unknown[]) result = apply(result, recordOf(operation));
  return recordOf(result);
};
