export const PREDELETE_TIMEOUT = 'edgeset.io/predelete-timeout-seconds';
export const IN_PLACE_GRACE = 'apps.kruise.io/inplace-update-grace';

/** Milliseconds; undefined where nothing is said, and for what is no whole number of seconds: that is a policy error. */
export const secondsOf = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,7}$/.test(text.trim()) ? Number(text) * 1000 : undefined;
