import type { ControllerRevision } from 'kubernetes-types/apps/v1.d.ts';
import { controllerRevisions, type KubeClient } from '../../kube/index.ts';
import { goJson } from './go-json.ts';
import type { HistoryWrite } from './history.ts';

/**
 * Makes a revision. Its data is kept byte by byte, and the native controller recognises its template by these bytes
 * alone; the API server refuses any patch of a revision whose bytes are not as Go writes them, adoption too.
 */
export const createRevision = (
  client: KubeClient,
  revision: ControllerRevision,
  options: { signal?: AbortSignal } = {},
): Promise<ControllerRevision> => {
  const typed: ControllerRevision = { ...revision, apiVersion: 'apps/v1', kind: 'ControllerRevision' };
  return client.create(controllerRevisions, typed, { ...options, json: goJson(typed) });
};

/** A patch: to send the data again is to have it refused as changed when a single byte differs. */
const renumberRevision = (
  client: KubeClient,
  { metadata = {}, revision }: ControllerRevision,
  options: { signal?: AbortSignal },
): Promise<ControllerRevision> => {
  const { namespace = '', name = '', uid, resourceVersion, labels, ownerReferences } = metadata;
  const body = { metadata: { uid, resourceVersion, labels, ownerReferences }, revision };
  return client.patch(controllerRevisions, { namespace, name }, body, { type: 'merge', ...options });
};

/** Takes a revision over that is nobody's. */
export const adoptRevision = (
  client: KubeClient,
  revision: ControllerRevision,
  options: { signal?: AbortSignal } = {},
): Promise<ControllerRevision> => renumberRevision(client, revision, options);

/** Carries out what `planHistory` wants written, on the condition that nobody has changed the revision since. */
export const writeRevision = (
  client: KubeClient,
  write: Exclude<HistoryWrite, { kind: 'none' }>,
  options: { signal?: AbortSignal } = {},
): Promise<ControllerRevision> =>
  write.kind === 'create'
    ? createRevision(client, write.revision, options)
    : renumberRevision(client, write.revision, options);
