import type { SelfSubjectReview } from 'kubernetes-types/authentication/v1.d.ts';
import { rolloutApprovals } from '../../controller/index.ts';
import { defineResource, isKubeError, isRefusedByPolicy, type KubeClient, listAll } from '../../kube/index.ts';
import { CommandError, type Connection, FIELD_MANAGER, INSTALL_CRDS, serverMessage } from '../../view/index.ts';
import { planApi, type RolloutApproval, type RolloutApprovalSpec } from '../../words/index.ts';

const selfSubjectReviews = defineResource<SelfSubjectReview>({
  group: 'authentication.k8s.io',
  version: 'v1',
  plural: 'selfsubjectreviews',
  kind: 'SelfSubjectReview',
  namespaced: false,
});

/** Of the ClusterRole that is installed for those who approve stages. */
const APPROVER = 'edgeset-approver';

/** As `kubectl -o name` prints it. */
export const approvalLabel = `${planApi.approval.singular}.${planApi.group}`;

/** The name by which the API server knows the user, which an approval must carry. */
export const ownName = async ({ client }: { client: Pick<KubeClient, 'create'> }): Promise<string> => {
  const { status } = await client.create(selfSubjectReviews, {});
  return status?.userInfo?.username ?? '';
};

const notInstalled = (cause: unknown, { edgeset }: Pick<Connection, 'edgeset'>): CommandError =>
  new CommandError(
    'NotInstalled',
    `the cluster has no CRD for RolloutApprovals: install it with "${edgeset(INSTALL_CRDS)}"`,
    cause,
  );

const asRefused = (error: unknown, connection: Connection): unknown => {
  const { namespace } = connection;
  if (!isKubeError(error)) return error;
  if (error.code === 'NotFound') return notInstalled(error, connection);
  if (isRefusedByPolicy(error))
    return new CommandError('Refused', `an admission policy refused the approval: ${serverMessage(error)}`, error);
  if (error.code === 'Forbidden')
    return new CommandError(
      'Forbidden',
      `${serverMessage(error)}: ask your cluster administrator to bind the ClusterRole ${APPROVER} to you in namespace ${namespace}, or use another --context`,
      error,
    );
  return error;
};

/** Approvals of this stage at this revision. Without the right to list them, none. */
export const approvalsOf = async (
  connection: Connection,
  { daemonSet, revision, stage }: Pick<RolloutApprovalSpec, 'daemonSet' | 'revision' | 'stage'>,
): Promise<RolloutApproval[]> => {
  const { client, namespace } = connection;
  try {
    const all = await listAll(client, rolloutApprovals, { namespace });
    return all.filter(
      ({ spec }) =>
        spec.daemonSet.apiGroup === daemonSet.apiGroup &&
        spec.daemonSet.name === daemonSet.name &&
        spec.revision === revision &&
        spec.stage === stage,
    );
  } catch (error) {
    if (isKubeError(error, 'Forbidden')) return [];
    // A list is never NotFound, unless the API server does not have the kind.
    throw isKubeError(error, 'NotFound') ? notInstalled(error, connection) : error;
  }
};

/** The approval as it would be sent; the API server chooses its name. */
export const newApproval = ({ namespace }: Connection, spec: RolloutApprovalSpec): RolloutApproval => ({
  apiVersion: planApi.apiVersion,
  kind: planApi.approval.kind,
  metadata: { generateName: `${spec.daemonSet.name}-`, namespace },
  spec,
});

export const createApproval = async (
  connection: Connection,
  approval: RolloutApproval,
  dryRun: boolean,
): Promise<RolloutApproval> => {
  try {
    return await connection.client.create(rolloutApprovals, approval, { fieldManager: FIELD_MANAGER, dryRun });
  } catch (error) {
    throw asRefused(error, connection);
  }
};
