import type { Api } from '../../test/cluster/index.ts';

const NAME = 'bench-few-seats';
const FLOW = '/apis/flowcontrol.apiserver.k8s.io/v1';
/** One share of about 250: three of the 600 requests that a server with default flags serves at a time. */
const SHARES = 1;

/** The API server refuses with 429 what the user asks beyond three requests at a time. Resolves with the end of that. */
export const giveFewSeats = async (api: Api, user: string): Promise<() => Promise<void>> => {
  const level = `${FLOW}/prioritylevelconfigurations/${NAME}`;
  const schema = `${FLOW}/flowschemas/${NAME}`;
  await api.apply(level, {
    apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
    kind: 'PriorityLevelConfiguration',
    metadata: { name: NAME },
    spec: {
      type: 'Limited',
      limited: {
        nominalConcurrencyShares: SHARES,
        lendablePercent: 0,
        borrowingLimitPercent: 0,
        limitResponse: { type: 'Reject' },
      },
    },
  });
  await api.apply(schema, {
    apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
    kind: 'FlowSchema',
    metadata: { name: NAME },
    spec: {
      priorityLevelConfiguration: { name: NAME },
      matchingPrecedence: 2,
      rules: [
        {
          subjects: [{ kind: 'User', user: { name: user } }],
          resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
        },
      ],
    },
  });
  return async () => {
    await api.delete(schema);
    await api.delete(level);
  };
};
