export { dropBody, readJson } from './body.ts';
export { checkOrigin, type Site, tcpSite, unixSite } from './origin.ts';
export { type Asset, createPage } from './page.ts';
export { createRateLimiter, type Rate } from './rate-limiter.ts';
export { createOutgoing, type Outgoing, type OutgoingOptions, type OutgoingResult } from './request.ts';
export { failure, type HttpResponse, json, plain, safeHeaders } from './response.ts';
export { sendResponse } from './send.ts';
export { followTlsFiles, type TlsFiles, tlsOptions } from './tls-files.ts';
