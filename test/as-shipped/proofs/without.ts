/** Rows that no case proves as shipped yet, by area, each with why. A row leaves this list with its case. */
export const WITHOUT: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  agentFlags: {
    '--cri-socket': 'test/containerd pulls by a real containerd with the code of the agent, in the process of the test',
  },
  conditions: {
    Deleted: 'on a DaemonRollout other reasons come first, or it is no longer written: no case has seen it there',
    NotSynced:
      'it lasts as long as a pod cache takes to sync at the start of a rollout, for which the judges of faults wait',
  },
  advancedConditions: {
    PreviousOwner:
      'it lasts as long as the garbage collector needs for a few pods; cluster/hand-over.test.ts sees what it keeps from happening',
    UnknownFields: 'it takes a revision that was recorded by a manager from before the judgement of fields',
    ZeroBudget: 'the schema refuses a budget of zero: only an object that is older than it has one',
  },
  managerEvents: {
    PreviousOwner: 'as the reason of Stalled',
    UnknownFields: 'as the reason of Stalled',
  },
};
