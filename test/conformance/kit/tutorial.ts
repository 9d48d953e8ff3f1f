/** The nodes of OpenYurt's tutorials. */
export const workers = ['openyurt-e2e-test-worker', 'openyurt-e2e-test-worker2', 'openyurt-e2e-test-worker3'] as const;

/** Their DaemonSet, as it stands there. */
export const nginxManifest = (strategy: 'auto' | 'ota', image: string): string => `
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: nginx-daemonset
  annotations:
    apps.openyurt.io/update-strategy: ${strategy}
spec:
  selector:
    matchLabels:
      app: nginx
  updateStrategy:
    type: OnDelete
  template:
    metadata:
      labels:
        app: nginx
    spec:
      containers:
      - name: nginx
        image: ${image}
`;
