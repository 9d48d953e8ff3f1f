/** Kubernetes' MicroTime: RFC 3339 with exactly six digits, which strict readers insist on. */
export const toMicroTime = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z');
