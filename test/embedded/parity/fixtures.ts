export const daemonSet = (name: string, image = 'nginx:1.25', extra = ''): string => `---
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: ${name}
  labels: {app: ${name}}
spec:
  selector: {matchLabels: {app: ${name}}}
${extra}  template:
    metadata: {labels: {app: ${name}}}
    spec:
      nodeSelector: {zone: a}
      tolerations:
      - {key: edge, operator: Exists, effect: NoSchedule}
      containers:
      - name: app
        image: ${image}
        ports: [{containerPort: 80}]
        env: [{name: A, value: b}, {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}]
        resources: {limits: {cpu: "0.5", memory: 128Mi}, requests: {cpu: 100m}}
        readinessProbe: {httpGet: {port: 80}}
        volumeMounts: [{name: data, mountPath: /data}]
      - name: side
        image: busybox
      volumes: [{name: data, emptyDir: {}}, {name: host, hostPath: {path: /var/run}}]
`;

export const pod = (name: string, node = ''): string => `---
apiVersion: v1
kind: Pod
metadata:
  name: ${name}
  labels: {app: web, tier: ${name}}
spec:
  ${node === '' ? '' : `nodeName: ${node}`}
  containers:
  - {name: app, image: "nginx:1.25"}
`;

export const node = (name: string): string => `---
apiVersion: v1
kind: Node
metadata:
  name: ${name}
  labels: {zone: a, kubernetes.io/hostname: ${name}, node-role.kubernetes.io/edge: ""}
spec:
  taints: [{key: edge, value: "yes", effect: NoSchedule}]
`;

export const nodeStatus = JSON.stringify({
  status: {
    capacity: { cpu: '4', memory: '8Gi', pods: '110' },
    allocatable: { cpu: '3500m', memory: '8Gi', pods: '110' },
    conditions: [
      {
        type: 'Ready',
        status: 'True',
        reason: 'KubeletReady',
        message: 'kubelet is posting ready status',
        lastHeartbeatTime: '2026-01-01T00:00:00Z',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ],
    addresses: [{ type: 'InternalIP', address: '172.20.0.9' }],
    nodeInfo: {
      architecture: 'amd64',
      bootID: 'b',
      containerRuntimeVersion: 'containerd://2.1.0',
      kernelVersion: '6.12.0',
      kubeProxyVersion: '',
      kubeletVersion: 'v1.34.4',
      machineID: 'm',
      operatingSystem: 'linux',
      osImage: 'simulated',
      systemUUID: 's',
    },
  },
});

export const podRunning = JSON.stringify({
  status: {
    phase: 'Running',
    podIP: '172.21.0.4',
    podIPs: [{ ip: '172.21.0.4' }],
    hostIP: '172.20.0.9',
    startTime: '2026-01-01T00:00:00Z',
    conditions: [
      { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' },
      { type: 'PodScheduled', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' },
    ],
    containerStatuses: [
      {
        name: 'app',
        ready: true,
        started: true,
        restartCount: 2,
        image: 'nginx:1.25',
        imageID: 'sha256:0',
        containerID: 'containerd://0',
        state: { running: { startedAt: '2026-01-01T00:00:00Z' } },
        lastState: {
          terminated: {
            exitCode: 1,
            reason: 'Error',
            startedAt: '2026-01-01T00:00:00Z',
            finishedAt: '2026-01-01T00:00:00Z',
          },
        },
      },
    ],
  },
});

export const events = `---
apiVersion: v1
kind: Event
metadata: {name: e1, namespace: default}
involvedObject: {apiVersion: apps/v1, kind: DaemonSet, name: web, namespace: default}
reason: SuccessfulCreate
message: "Created pod: web-1"
type: Normal
count: 3
firstTimestamp: "2026-01-01T00:00:00Z"
lastTimestamp: "2026-01-01T00:00:00Z"
source: {component: daemonset-controller}
reportingComponent: daemonset-controller
reportingInstance: ""
---
apiVersion: events.k8s.io/v1
kind: Event
metadata: {name: e2, namespace: default}
regarding: {apiVersion: v1, kind: Pod, name: p1, namespace: default}
reason: Pulled
note: "Image was there"
type: Warning
action: Pull
eventTime: "2026-01-01T00:00:00.000000Z"
reportingController: edgeset.io/manager
reportingInstance: m-1
`;

export const crd = `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.test.edgeset.io}
spec:
  group: test.edgeset.io
  scope: Namespaced
  names: {kind: Widget, plural: widgets, shortNames: [wd], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size}
    - {name: Ready, type: string, jsonPath: '.status.conditions[?(@.type=="Ready")].status'}
    - {name: Color, type: string, jsonPath: .spec.color, priority: 1}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [size]
            x-kubernetes-validations:
            - {rule: "self.size <= 5 || self.color == 'red'", message: "big ones are red"}
            - {rule: "!has(oldSelf.color) || self.color == oldSelf.color", message: "color is fixed", fieldPath: .color}
            - {rule: "self.size != 4", messageExpression: "'unlucky'", reason: FieldValueForbidden}
            properties:
              size: {type: integer, minimum: 0, maximum: 10, description: How large it is.}
              color: {type: string, enum: [red, green, blue], default: green}
              name: {type: string, minLength: 2, maxLength: 5, pattern: '^[a-z]+$'}
              list:
                type: array
                maxItems: 2
                minItems: 1
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [key]
                items:
                  type: object
                  required: [key]
                  properties: {key: {type: string}, val: {type: integer, default: 7}}
              when: {type: string, format: date-time}
              mu: {x-kubernetes-int-or-string: true}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true}
              labels: {type: object, additionalProperties: {type: string}}
              maybe: {type: string, nullable: true}
          status:
            type: object
            properties:
              phase: {type: string}
`;

export const widget = (name: string, spec: string, more = ''): string =>
  `---\n{apiVersion: test.edgeset.io/v1, kind: Widget, metadata: {name: ${name}}, spec: ${spec}${more}}\n`;
