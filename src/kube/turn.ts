/** After work that took longer, what else the process has to do, such as answering probes, gets a turn. */
export const TURN_MS = 20;
