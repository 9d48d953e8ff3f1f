import { OptionError } from '../../runtime/index.ts';

// Temporal would also take a whole date with a zone in brackets.
const NAME = /^(?:[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*|[+-]\d{2}:\d{2})$/;

const canonical = (name: string): string | undefined => {
  if (!NAME.test(name)) return undefined;
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId;
  } catch {
    return undefined;
  }
};

/**
 * The zone that windows are in: an IANA name such as `Europe/Berlin`, or an offset such as `+02:00`. Without a name, the
 * machine's (in a container that is UTC unless the host's /etc/localtime or TZ is handed in). Throws an `OptionError`.
 */
export const parseTimeZone = (name: string | undefined, flag = '--time-zone'): string => {
  if (name === undefined) {
    // oxlint-disable-next-line no-restricted-properties -- the time zone of the machine, not its time
    const own = canonical(Temporal.Now.timeZoneId());
    if (own !== undefined) return own;
    throw new OptionError(flag, "the machine's time zone cannot be told: give its name, such as Europe/Berlin");
  }
  const zone = canonical(name);
  if (zone !== undefined) return zone;
  throw new OptionError(
    flag,
    `"${name}" is no time zone: give an IANA name such as Europe/Berlin, or an offset such as +02:00`,
  );
};
