// The tree-shakable build of zod: the full one would take 9 MiB of memory on an edge node.
import * as z from 'zod/mini';
import en from 'zod/v4/locales/en.js';

z.config(en());

// Unknown fields are allowed: many programs share a kubeconfig.

const text = z.nullish(z.string());
const flag = z.nullish(z.boolean());
const someText = z.string().check(z.minLength(1));

const execSchema = z.looseObject({
  apiVersion: z.enum(['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'], {
    error: 'must be client.authentication.k8s.io/v1 or v1beta1: update the plugin or this entry (v1alpha1 was removed)',
  }),
  command: z.string().check(z.minLength(1, 'must be the name of a program')),
  args: z.nullish(z.array(z.string())),
  env: z.nullish(z.array(z.looseObject({ name: someText, value: z.string() }))),
  installHint: text,
  provideClusterInfo: flag,
  interactiveMode: z.nullish(
    z.enum(['Never', 'IfAvailable', 'Always'], { error: 'must be Never, IfAvailable or Always' }),
  ),
});

const urlOf = (schemes: string[], example: string) =>
  z.string().check(
    z.refine((address) => URL.canParse(address) && schemes.includes(new URL(address).protocol), {
      error: `must be a URL such as ${example}`,
    }),
  );

const base64 = z.nullish(
  z.string().check(z.regex(/^[A-Za-z0-9+/\s]*(?:={1,2}\s*)?$/, 'must be a base64-encoded PEM file')),
);

const extensionsSchema = z.nullish(z.array(z.looseObject({ name: z.string(), extension: z.unknown() })));

export const clusterSchema = z.looseObject({
  server: urlOf(['https:', 'http:'], 'https://10.0.0.1:6443'),
  'certificate-authority': text,
  'certificate-authority-data': base64,
  'insecure-skip-tls-verify': flag,
  'tls-server-name': text,
  'proxy-url': z.nullish(
    z.union([z.literal(''), urlOf(['http:', 'https:', 'socks5:', 'socks5h:'], 'http://proxy:3128')]),
  ),
  extensions: extensionsSchema,
});

export const userSchema = z.looseObject({
  'client-certificate': text,
  'client-certificate-data': base64,
  'client-key': text,
  'client-key-data': base64,
  token: text,
  tokenFile: text,
  username: text,
  password: text,
  exec: z.nullish(execSchema),
  'auth-provider': z.optional(z.unknown()),
  as: text,
  'as-uid': text,
  'as-groups': z.nullish(z.array(z.string())),
  'as-user-extra': z.nullish(z.record(z.string(), z.array(z.string()))),
});

export const contextSchema = z.looseObject({
  cluster: text,
  user: text,
  namespace: text,
});

export type ClusterEntry = z.infer<typeof clusterSchema>;
export type UserEntry = z.infer<typeof userSchema>;

/** Entries are validated only when they are used: an invalid one in another context does no harm. */
export const kubeconfigSchema = z.looseObject({
  'current-context': text,
  clusters: z.nullish(z.array(z.looseObject({ name: someText, cluster: z.unknown() }))),
  users: z.nullish(z.array(z.looseObject({ name: someText, user: z.unknown() }))),
  contexts: z.nullish(z.array(z.looseObject({ name: someText, context: z.unknown() }))),
});
