/**
 * What edgeset promises, in one list. One judge (`test/judge`) uses it: for the simulation by the state of the simulated cluster, for
 * the conformance suites, the chaos run and the nodes by the API server's audit log (`test/judge/audit`).
 * docs/explanation/reliability.md shows the same sentences.
 */
export const invariants = {
  S1: 'An update begins only while fewer nodes than the budget allows have an update in flight.',
  S2: 'A healthy pod is taken down only while fewer nodes than the budget allows are down, by what the manager knows.',
  S3: 'No update begins on a node that has been back for less than the settle time.',
  S4: 'No update begins on an offline node.',
  S5: 'Each delete is bound to one pod by its UID, and no healthy pod of the target revision is replaced.',
  S6: 'A node with a healthy pod is updated at most once for each rollout.',
  S7: 'S1 holds also while two managers believe that they lead, and after a manager has lost the lease.',
  S8: 'No update begins before the initial sync, or on a version of an object older than the process’s own last write to it.',
  S9: 'An update obeys the user’s controls: pause, budget of zero, partition, node selector, OnDelete, owners, a halt for images that differ.',
  S10: 'A node never has more pods than its strategy allows, and never loses its last working pod during a surge.',
  S11: 'Before an update, the preDelete hook has released the pod and the required images are on the node; each image is pulled by one pod, which is cleaned up.',
  S12: 'Where owners decide, a pod is replaced only for its owner’s decision on this pod and revision, or after a deadline.',
  S13: 'No update begins once failed and lost nodes reach the threshold, and a rollout whose failures hold every slot is halted.',
  S14: 'No node goes back from the target revision unless the user asks for another one.',
  S15: 'Writes are bounded for each pod, wave and event in the cluster, and stop when nothing happens.',
  S16: 'The status is true: complete only when it is, counts add up, and observed generations never decrease.',
  S17: 'While a version proves itself, no more nodes try it than its first wave and three for each node that it works on.',
  S18: 'While a manager or an agent cannot compute something about a DaemonSet, it begins no update of it, says so, and continues with others; it continues once it can.',
  G1: 'With a rollout plan, no update begins on a node whose stage is not open, that is busy, or while its windows or freezes forbid it; a sample has no busy node, and never changes.',
  G2: 'A stage opens once all before it were promoted for this revision, which is written first and never taken back while the revision stays.',
  G3: 'Offline and busy nodes block no stage that has others, and count for none.',
  G4: 'A check without a result holds its stage and is no failure; a stage with a check is passed by an answer that holds.',
  G5: 'A soak lasts as long as the plan says; neither a failover nor a restart shortens or restarts it.',
  G6: 'The revision that was last complete opens all stages at once.',
  G7: 'No more nodes of a group or a stage have an update in flight than its limit allows, also while two managers act; a node is updated after the DaemonSets that its plan names.',
  G8: 'A promotion by hand, and each approval that a stage requires, is an object of the user that the status names.',
  G9: 'On a node that is kept from the target, new pods are of the revision that was last complete, as long as there is one.',
  L1: 'Once faults are over, every online node reaches the target revision, becomes available and stays so.',
  L2: 'Offline nodes do not block the others: an update follows within a second while a slot is free.',
  L3: 'The same holds for nodes that have just come back.',
  L4: 'The same holds after a lost watch event.',
  L5: 'An update begins within a second whenever a slot is free, a node is waiting and nothing holds the rollout.',
  L6: 'Unless something happens to nodes or pods, the number of updated nodes never decreases.',
  L7: 'A healthy leader executes or releases each reservation within a minute.',
  L8: 'A watch that ends is open again within 50 s, without a storm of list requests.',
  L9: 'With people answering, every stage is reached and the rollout completes; a stage whose conditions hold is promoted within a second.',
} as const;

export type InvariantId = keyof typeof invariants;

/** In the order of the list. */
export const invariantIds = Object.keys(invariants) as readonly InvariantId[];
