/** Rows that no case proves as shipped yet, by area, each with why. A row leaves this list with its case. */
export const WITHOUT: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  agentFlags: {
    '--cri-socket': 'test/containerd pulls by a real containerd with the code of the agent, in the process of the test',
  },
  conditions: {
    NotSynced:
      'it lasts as long as a pod cache takes to sync at the start of a rollout, for which the judges of faults wait',
  },
  advancedConditions: {
    ZeroBudget: 'the schema refuses a budget of zero: only an object that is older than it has one',
  },
};
