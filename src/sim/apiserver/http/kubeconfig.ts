export interface Access {
  readonly server: string;
  /** PEM. */
  readonly certificateAuthority: string;
  readonly token: string;
}

const NAME = 'edgeset';

/** A kubeconfig of one cluster and one user, as JSON, which is YAML. Holds the token: write it for its owner only. */
export const kubeconfigText = ({ server, certificateAuthority, token }: Access, namespace: string): string => {
  const authority = Buffer.from(certificateAuthority).toString('base64');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': NAME,
    clusters: [{ name: NAME, cluster: { server, 'certificate-authority-data': authority } }],
    users: [{ name: NAME, user: { token } }],
    contexts: [{ name: NAME, context: { cluster: NAME, user: NAME, namespace } }],
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
};
