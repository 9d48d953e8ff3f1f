/** What is done to the pod of a node, in the words of the decision. */
export type PodWriteKind = 'delete' | 'change' | 'surge' | 'retire';

interface Words {
  /** For metrics, when it was done. */
  result: string;
  /** Of Events. */
  action: string;
  done: string;
  failed: string;
  /** What was done, of a pod on a node, as a sentence. */
  did: (pod: string, node: string) => string;
  /** What could not be done: "Could not ...". */
  could: (pod: string, node: string) => string;
}

const deleting = {
  action: 'Delete',
  done: 'SuccessfulDelete',
  failed: 'FailedDelete',
  could: (pod: string, node: string): string => `delete pod ${pod} on ${node}`,
};

/** How each is told. */
export const podWriteTexts: Readonly<Record<PodWriteKind, Words>> = {
  delete: { ...deleting, result: 'deleted', did: (pod, node) => `Deleted pod ${pod} on ${node}.` },
  change: {
    result: 'updated-in-place',
    action: 'UpdateInPlace',
    done: 'SuccessfulUpdatePodInPlace',
    failed: 'FailedUpdatePodInPlace',
    did: (pod, node) => `Began to update pod ${pod} on ${node} in place.`,
    could: (pod, node) => `update pod ${pod} on ${node} in place`,
  },
  surge: {
    result: 'created',
    action: 'Create',
    done: 'SuccessfulCreate',
    failed: 'FailedCreate',
    did: (pod, node) => `Created a new pod beside ${pod} on ${node}.`,
    could: (pod, node) => `create a new pod beside ${pod} on ${node}`,
  },
  retire: {
    ...deleting,
    result: 'retired',
    did: (pod, node) => `Deleted pod ${pod} on ${node}, which a new one has taken over from.`,
  },
};
