export { type BackoffOptions, backoffMs, createKeyedBackoff, nextAllowedAt } from './backoff.ts';
export { type CertificateAuthority, createCertificateAuthority, type Identity } from './certificate.ts';
export { type Clock, nextTurn, sleep, steadyClock, systemClock, type Timer } from './clock.ts';
export type { Env } from './env.ts';
export { createLogger, type LogFields, type Logger, type LogLevel, silentLogger } from './log.ts';
export { OptionError, parseDuration } from './options.ts';
export { createRandom } from './random.ts';
export { anySignal, untilAborted, withSignal } from './signals.ts';
export { createVirtualClock, type VirtualClock } from './virtual-clock.ts';
