interface Tolerance {
  ms: number;
  /** What it lets pass, and why. */
  because: string;
}

const table = <Name extends string>(rows: Readonly<Record<Name, Tolerance>>): Readonly<Record<Name, Tolerance>> => rows;

/**
 * All that the judge lets pass, each with its reason. Whoever widens one, or adds one, does so in its own commit that says
 * what it lets pass from then on.
 */
export const tolerances = table({
  /** What the sender could know. */
  decision: { ms: 1_000, because: 'What a process observed this long before may not be part of what it sends.' },
  newTemplate: { ms: 250, because: 'The same for a template: it waits for nothing but the queue.' },
  decided: { ms: 200, because: 'What a process sends follows from the plan that it had observed this much earlier.' },
  userChange: { ms: 1_000, because: 'A change by the user takes this long to reach a process over a healthy link.' },
  planChange: {
    ms: 2_000,
    because: 'A change of a plan concerns objects of two watches, which may arrive one after the other.',
  },
  auditLag: {
    ms: 1_000,
    because:
      'A log does not show what a watch had delivered: a caller may not know what happened within this time before. Chaos adds the time in which a manager was stopped or cut off.',
  },
  heldBackCreation: {
    ms: 5_000,
    because:
      'A creation that was held back for longer is no update: Kubernetes has no precondition to refuse it by. It creates one surplus pod, which the leader deletes.',
  },

  /** How exactly a time is known. */
  wholeSecond: { ms: 1_000, because: 'Kubernetes writes times in whole seconds, and the API server its Date.' },
  sameClock: { ms: 500, because: 'Clocks that differ by less are the same clock.' },
  uncorrectedClock: {
    ms: 60_000,
    because:
      'A clock that differs by less from that of the API server is not corrected: a deadline may pass early by as much.',
  },
  hookTimeout: {
    ms: 1_100,
    because: 'The start of a hook is written in whole seconds, by the sender and before the write arrives.',
  },

  /** How long something may take while nobody is at fault. */
  givenUp: {
    ms: 600_000,
    because:
      'An update that was given up is undone within this time, whatever refuses its writes; until then it takes no place of the partition.',
  },
  ownerRequest: {
    ms: 60_000,
    because: 'A request of an owner that was not answered for this long was lost with the process.',
  },
  backOff: { ms: 40_000, because: 'The longest back-off after a failure, in which nothing is expected of a leader.' },
  refusedTemplate: {
    ms: 310_000,
    because: 'The longest back-off after a template was refused: what refuses it seldom changes.',
  },
  serverTrouble: {
    ms: 370_000,
    because:
      'For a minute all writes of a kind are refused, and then nodes wait for as long as after a template was refused.',
  },
  sync: { ms: 8_000, because: 'A new leader, or a new watch, has synced within this time.' },
  watchRecovery: {
    ms: 130_000,
    because: 'A delayed event has arrived within this time, and a watch that ended is open again.',
  },
  silentWatch: { ms: 420_000, because: 'A silent watch is closed within this time.' },
  statusWrite: { ms: 1_000, because: 'The longest time between a decision and the write that reports it.' },
  statusAfterRefusal: {
    ms: 6_000,
    because: 'The same where the API server has answered 429: calls are kept back for as long.',
  },
  unreadableSent: {
    ms: 1_000,
    because: 'What was decided before an object could no longer be read arrives within this time.',
  },
});

/** What the product promises to do within a time, ms: an invariant names the bound. */
export const withinMs = {
  /** L2 to L5, L9: an update, or a promotion. */
  prompt: 1_000,
  /** S13: a version whose failures hold every slot is halted by a leader that nothing disturbs. */
  halted: 60_000,
  /** S18: a leader that nothing disturbs says what it cannot compute. */
  reported: 35_000,
  /** L7: a healthy leader executes or releases a reservation. */
  reserved: 60_000,
  /** L8: a watch is open again; the longest back-off between two attempts, its jitter, and the time of a response. */
  reopened: 50_000,
};

/** Defaults of the product that decide what is right, ms. */
export const defaultsMs = {
  /** A process that has not renewed its lease for so long no longer believes that it leads. */
  lease: 15_000,
  /** A node that goes offline this soon after an update is a suspect. */
  suspectWindow: 300_000,
  /** One attempt to pull images. */
  pullTimeout: 300_000,
  /**
   * Nothing starts while a watch has received nothing for so long, which is when two bookmarks are missing. A watch that is
   * opened again gets the first one a minute later: if it was closed for a minute, or closed again within each minute, its
   * process has to wait for it.
   */
  inTouch: 120_000,
};
