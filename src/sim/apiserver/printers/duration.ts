const SECOND = 1000;
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

const two = (first: number, firstUnit: string, second: number, secondUnit: string): string =>
  second === 0 ? `${first}${firstUnit}` : `${first}${firstUnit}${second}${secondUnit}`;

/** An age as kubectl shows it: `45s`, `3m20s`, `26h`, `3d4h`, `2y10d`. */
export const humanDuration = (ms: number): string => {
  const seconds = Math.floor(ms / SECOND);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 2 * MINUTE) return `${seconds}s`;
  const minutes = Math.floor(seconds / MINUTE);
  if (minutes < 10) return two(minutes, 'm', seconds % MINUTE, 's');
  if (minutes < 3 * 60) return `${minutes}m`;
  const hours = Math.floor(seconds / HOUR);
  if (hours < 8) return two(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(seconds / DAY);
  if (hours < 8 * 24) return two(days, 'd', hours % 24, 'h');
  if (days < 2 * 365) return `${days}d`;
  const years = Math.floor(seconds / YEAR);
  return years < 8 ? two(years, 'y', days % 365, 'd') : `${years}y`;
};

/** How long ago a time was. */
export const ageOf = (time: unknown, now: number): string => {
  const at = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  return Number.isNaN(at) ? '<unknown>' : humanDuration(now - at);
};
