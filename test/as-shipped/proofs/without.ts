/** Rows that no case proves as shipped yet, by area, each with why. A row leaves this list with its case. */
export const WITHOUT: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  agentFlags: {
    '--cri-socket': 'test/containerd pulls by a real containerd with the code of the agent, in the process of the test',
  },
};
