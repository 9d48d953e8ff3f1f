export interface AutoDaemonSetOptions {
  annotations?: Readonly<Record<string, string>>;
  nodeSelector?: Readonly<Record<string, string>>;
}

/** A native DaemonSet with one container, which edgeset updates with `auto`. */
export const autoDaemonSet = (
  name: string,
  image: string,
  { annotations = {}, nodeSelector = {} }: AutoDaemonSetOptions = {},
) => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name, annotations: { 'apps.openyurt.io/update-strategy': 'auto', ...annotations } },
  spec: {
    selector: { matchLabels: { app: name } },
    updateStrategy: { type: 'OnDelete' },
    template: { metadata: { labels: { app: name } }, spec: { nodeSelector, containers: [{ name: 'app', image }] } },
  },
});
