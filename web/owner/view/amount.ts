const MINUTE_S = 60;
const HOUR_S = 3600;

const say = (value: number, unit: string, language: string, unitDisplay: 'long' | 'short', digits = 0): string =>
  new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay, maximumFractionDigits: digits }).format(value);

/** As people say it: `40 seconds`, `2 minutes`, `3 hours`. */
export const sayDuration = (seconds: number, language: string): string => {
  if (seconds < 1.5 * MINUTE_S) return say(seconds, 'second', language, 'long');
  if (seconds < 1.5 * HOUR_S) return say(seconds / MINUTE_S, 'minute', language, 'long');
  return say(seconds / HOUR_S, 'hour', language, 'long');
};

/** In the units of shops and network providers, which count in thousands: `48 MB`, `1.2 GB`. */
export const saySize = (bytes: number, language: string): string => {
  const megabytes = bytes / 1e6;
  return megabytes < 1000
    ? say(Math.max(megabytes, 0.1), 'megabyte', language, 'short', megabytes < 10 ? 1 : 0)
    : say(megabytes / 1000, 'gigabyte', language, 'short', 1);
};
