export { type Clock, nextTurn, sleep, steadyClock, systemClock, type Timer } from './clock.ts';
export { parseDuration } from './duration.ts';
export { eitherSignal } from './either-signal.ts';
export type { Env } from './env.ts';
export { createLogger, type LogFields, type Logger, type LoggerOptions, type LogLevel, silentLogger } from './log.ts';
export { OptionError } from './option-error.ts';
export { untilAborted } from './until-aborted.ts';
export { createVirtualClock, type VirtualClock } from './virtual-clock.ts';
