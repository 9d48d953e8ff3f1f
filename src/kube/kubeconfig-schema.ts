import { z } from 'zod';

// Fields that this client does not know are let through: a kubeconfig serves many programs.

const execSchema = z.looseObject({
  apiVersion: z.enum(['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'], {
    error: 'must be client.authentication.k8s.io/v1 or v1beta1: update the plugin or this entry (v1alpha1 is gone)',
  }),
  command: z.string().min(1, 'must name a program'),
  args: z.array(z.string()).nullish(),
  env: z.array(z.looseObject({ name: z.string().min(1), value: z.string() })).nullish(),
  installHint: z.string().nullish(),
  provideClusterInfo: z.boolean().nullish(),
  interactiveMode: z
    .enum(['Never', 'IfAvailable', 'Always'], { error: 'must be Never, IfAvailable or Always' })
    .nullish(),
});

const urlOf = (schemes: string[], example: string) =>
  z.string().refine((text) => URL.canParse(text) && schemes.includes(new URL(text).protocol), {
    error: `must be a URL such as ${example}`,
  });

const base64 = z.string().regex(/^[A-Za-z0-9+/\s]*={0,2}\s*$/, 'must be base64 (of a PEM file)');

const extensionsSchema = z.array(z.looseObject({ name: z.string(), extension: z.unknown() })).nullish();

const clusterSchema = z.looseObject({
  server: urlOf(['https:', 'http:'], 'https://10.0.0.1:6443'),
  'certificate-authority': z.string().nullish(),
  'certificate-authority-data': base64.nullish(),
  'insecure-skip-tls-verify': z.boolean().nullish(),
  'tls-server-name': z.string().nullish(),
  'proxy-url': z
    .union([z.literal(''), urlOf(['http:', 'https:', 'socks5:', 'socks5h:'], 'http://proxy:3128')])
    .nullish(),
  extensions: extensionsSchema,
});

const userSchema = z.looseObject({
  'client-certificate': z.string().nullish(),
  'client-certificate-data': base64.nullish(),
  'client-key': z.string().nullish(),
  'client-key-data': base64.nullish(),
  token: z.string().nullish(),
  tokenFile: z.string().nullish(),
  username: z.string().nullish(),
  password: z.string().nullish(),
  exec: execSchema.nullish(),
  'auth-provider': z.unknown().optional(),
  as: z.string().nullish(),
  'as-uid': z.string().nullish(),
  'as-groups': z.array(z.string()).nullish(),
  'as-user-extra': z.record(z.string(), z.array(z.string())).nullish(),
});

const contextSchema = z.looseObject({
  cluster: z.string().nullish(),
  user: z.string().nullish(),
  namespace: z.string().nullish(),
});

export type ClusterEntry = z.infer<typeof clusterSchema>;
export type UserEntry = z.infer<typeof userSchema>;
export type ContextEntry = z.infer<typeof contextSchema>;

/** Entries are checked only when they are used: a broken one of another context does no harm. */
export const kubeconfigSchema = z.looseObject({
  'current-context': z.string().nullish(),
  clusters: z.array(z.looseObject({ name: z.string().min(1), cluster: z.unknown() })).nullish(),
  users: z.array(z.looseObject({ name: z.string().min(1), user: z.unknown() })).nullish(),
  contexts: z.array(z.looseObject({ name: z.string().min(1), context: z.unknown() })).nullish(),
});

export { clusterSchema, contextSchema, userSchema };
