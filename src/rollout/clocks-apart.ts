/** The clocks of two machines are seldom further apart, ms. */
export const CLOCKS_APART_MS = 600_000;
