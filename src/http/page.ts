import type { HttpResponse } from './response.ts';

/** One file of a page, ready to send. */
export interface Asset {
  /** From the root, such as `/` or `/main-5X3QKJ2A.js`. A file with a hash in its name never changes. */
  path: string;
  contentType: string;
  body: string;
  /** In quotes, as the header requires. */
  etag: string;
}

export interface Page {
  /** Undefined when the page has no such file; 304 when `etag` is still current. */
  find(path: string, etag: string | undefined): Promise<HttpResponse | undefined>;
}

/** The page uses its own files only: nothing inline, nothing from other sites, no frames, no forms. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const responseOf = ({ path, contentType, body, etag }: Asset): HttpResponse => ({
  status: 200,
  contentType,
  // Once for all connections: a text would be copied for each that does not read.
  body: Buffer.from(body),
  headers: {
    'content-security-policy': PAGE_POLICY,
    etag,
    // All names except the root's contain a hash of the content.
    'cache-control': path === '/' ? 'no-cache' : 'public, max-age=31536000, immutable',
  },
});

/** Serves a page. It is loaded on the first request, because most processes never show it. */
export const createPage = (load: () => Promise<readonly Asset[]>): Page => {
  let loading: Promise<ReadonlyMap<string, HttpResponse>> | undefined;
  const read = async (): Promise<ReadonlyMap<string, HttpResponse>> =>
    new Map((await load()).map((asset) => [asset.path, responseOf(asset)]));
  return {
    async find(path, etag) {
      loading ??= read().catch((error: unknown) => {
        loading = undefined;
        throw error;
      });
      const found = (await loading).get(path);
      if (found?.headers?.etag === undefined || found.headers.etag !== etag) return found;
      return { status: 304, headers: found.headers };
    },
  };
};
