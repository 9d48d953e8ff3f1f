let aheadMs = 0;

/** The dashboard has said what time it is where the times of the cluster come from. */
export const setClock = (now: number): void => {
  aheadMs = now - Date.now();
};

/** The time to compare times of the cluster with. */
export const clusterNow = (): number => Date.now() + aheadMs;
