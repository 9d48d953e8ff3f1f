import { badRequest, StatusError } from '../errors.ts';
import { isRecord, type Json } from '../json.ts';
import { applyObject } from '../patch/apply.ts';
import { jsonPatch, mergePatch } from '../patch/json-patch.ts';
import { strategicPatch } from '../patch/strategic-merge.ts';
import type { Kind } from '../registry/kind.ts';
import { shapeOfKind } from '../schema/kind-shape.ts';
import type { PatchContext, PatchResult, Ref, ServerState } from './state.ts';
import { updateObject } from './update.ts';

const patched = (kind: Kind, present: Json, body: unknown, type: 'json' | 'merge' | 'strategic'): Json => {
  if (type === 'json') return jsonPatch(present, body);
  if (!isRecord(body))
    throw badRequest(
      'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}',
    );
  if (type === 'merge') return mergePatch(present, body) as Json;
  if (kind.custom)
    throw new StatusError(
      'UnsupportedMediaType',
      'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
      {},
    );
  return strategicPatch(present, body, shapeOfKind(kind));
};

/** Patches an object; an apply creates it if it doesn't exist. */
export const patchObject = (
  state: ServerState,
  kind: Kind,
  ref: Ref,
  body: unknown,
  context: PatchContext,
): PatchResult => {
  const { type } = context;
  if (type === 'apply') return applyObject(state, kind, ref, body, context);
  const change = (present: Json): Json => {
    const next = patched(kind, present, body, type);
    context.inspect?.(next);
    return next;
  };
  return { object: updateObject(state, kind, ref, change, { ...context, mode: 'patch' }), created: false };
};
