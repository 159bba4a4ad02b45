import { createHash } from 'node:crypto';
import { sandboxConfig } from '../sandbox.config';
import { WORKSPACE } from '../sandbox-driver';
import type { KubernetesObject } from './kubernetes-api';
import { kubernetesConfig } from './kubernetes.config';

/** By these all that the driver makes is found; policies of the network select by them, too. */
export const LABELS = { 'app.kubernetes.io/name': 'sandbox', 'app.kubernetes.io/part-of': 'agent-platform' };
export const WORKSPACE_LABEL = 'agent-platform/workspace';
/** When somebody used it last, by the clock of the cluster's API. */
export const USED_AT = 'agent-platform/used-at';
export const CONTAINER = 'sandbox';

/** The user whose ids everybody knows to be nobody's. */
const NOBODY = 65_534;
/** After so long a pod ends, whoever forgot it. */
const LIFETIME_S = 24 * 60 * 60;

/** As far as it is looked at. */
export interface Pod extends KubernetesObject {
  status?: {
    phase?: string;
    reason?: string;
    conditions?: { type: string; status: string; reason?: string }[];
    containerStatuses?: { state?: { waiting?: { reason?: string }; running?: object; terminated?: { reason?: string } } }[];
  };
}

/** Of a pod for an image: the same for everybody who runs commands with this workspace in it. */
export const podName = (workspace: string, image: string): string =>
  `sandbox-${workspace}-${createHash('sha256').update(image).digest('hex').slice(0, 12)}`;

export const claimName = (workspace: string): string => `workspace-${workspace}`;

/** The volume of a workspace. */
export function claimManifest(workspace: string, usedAt: string): object {
  const { storageClass, storage } = kubernetesConfig.value;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: claimName(workspace), labels: { ...LABELS, [WORKSPACE_LABEL]: workspace }, annotations: { [USED_AT]: usedAt } },
    spec: {
      accessModes: ['ReadWriteOnce'],
      ...(storageClass && { storageClassName: storageClass }),
      resources: { requests: { storage } },
    },
  };
}

/**
 * A pod that waits for commands. It has nothing of ours: no token, no variable, no way to anybody but where a policy of the network lets it.
 *
 * @param workspace null: for an image that is only fetched
 */
export function podManifest(name: string, image: string, workspace: string | null, usedAt: string): object {
  const { runtimeClass } = kubernetesConfig.value;
  const ofWorkspace = workspace === null ? {} : { [WORKSPACE_LABEL]: workspace };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      labels: { ...LABELS, ...ofWorkspace, 'agent-platform/sandbox-egress': sandboxConfig.value.egress },
      annotations: { [USED_AT]: usedAt },
    },
    spec: {
      ...(runtimeClass && { runtimeClassName: runtimeClass }),
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      restartPolicy: 'Never',
      activeDeadlineSeconds: LIFETIME_S,
      terminationGracePeriodSeconds: 0,
      // Its first process collects what commands leave.
      shareProcessNamespace: true,
      // A volume is for one node.
      ...(workspace !== null && { affinity: sameNode(workspace) }),
      securityContext: {
        runAsNonRoot: true,
        runAsUser: NOBODY,
        runAsGroup: NOBODY,
        fsGroup: NOBODY,
        fsGroupChangePolicy: 'OnRootMismatch',
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [
        {
          name: CONTAINER,
          image,
          imagePullPolicy: 'IfNotPresent',
          // Reads what nobody writes, by what every shell has built in.
          command: ['sh', '-c', 'read -r _'],
          stdin: true,
          workingDir: WORKSPACE,
          env: Object.entries({ HOME: WORKSPACE, LANG: 'C.UTF-8', TERM: 'dumb' }).map(([variable, value]) => ({ name: variable, value })),
          securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
          resources: {
            requests: { cpu: '100m', memory: '128Mi', 'ephemeral-storage': '128Mi' },
            limits: { cpu: '1', memory: '1Gi', 'ephemeral-storage': '1Gi' },
          },
          volumeMounts: [
            { name: 'tmp', mountPath: '/tmp' },
            { name: 'workspace', mountPath: WORKSPACE },
          ],
        },
      ],
      volumes: [
        { name: 'tmp', emptyDir: { sizeLimit: '256Mi' } },
        workspace === null
          ? { name: 'workspace', emptyDir: { sizeLimit: '1Mi' } }
          : { name: 'workspace', persistentVolumeClaim: { claimName: claimName(workspace) } },
      ],
    },
  };
}

const sameNode = (workspace: string) => ({
  podAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { labelSelector: { matchLabels: { [WORKSPACE_LABEL]: workspace } }, topologyKey: 'kubernetes.io/hostname' },
    ],
  },
});

/** Whether commands can be run in it. */
export const isRunning = ({ status }: Pod): boolean => status?.phase === 'Running' && !!status.containerStatuses?.[0]?.state?.running;

/** By itself. */
export const hasEnded = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';

/** It has ended, or somebody removes it. */
export const isOver = (pod: Pod): boolean => !!pod.metadata.deletionTimestamp || hasEnded(pod);

const PULL_FAILED = ['ErrImagePull', 'ImagePullBackOff', 'InvalidImageName', 'ImageInspectError', 'ErrImageNeverPull'];
const START_FAILED = ['CreateContainerConfigError', 'CreateContainerError', 'RunContainerError'];

/** Why it will not start, as a sentence. */
export function startProblem({ status }: Pod): string | null {
  const reason = status?.containerStatuses?.[0]?.state?.waiting?.reason ?? '';
  if (PULL_FAILED.includes(reason)) return 'The image cannot be pulled by the cluster.';
  return START_FAILED.includes(reason) ? 'The image cannot be started by the cluster.' : null;
}

export const NO_ROOM = 'The cluster has no room for another sandbox.';

/** Why it has not started by now, as a sentence. */
export const waitingFor = (pod: Pod | null): string =>
  pod?.status?.conditions?.some(({ type, status }) => type === 'PodScheduled' && status === 'False')
    ? NO_ROOM
    : 'The sandbox did not start in time.';

const endOf = (pod: Pod | null): string | undefined => pod?.status?.containerStatuses?.[0]?.state?.terminated?.reason;

/** Why it has ended before anything ran in it, as a sentence. */
export const startFailureOf = (pod: Pod): string =>
  ['StartError', 'ContainerCannotRun'].includes(endOf(pod) ?? '')
    ? 'The image has no `sh` that runs commands.'
    : 'The sandbox ended while it started.';

/** Why commands in it were lost, as a sentence. */
export function lossOf(pod: Pod | null): string {
  if (endOf(pod) === 'OOMKilled') return 'The sandbox was ended: its processes used more than 1 GiB of memory.';
  if (pod?.status?.reason === 'Evicted') return 'The sandbox was ended: it used more of its node than it may, as by files in /tmp.';
  return 'The sandbox was lost while the command ran in it.';
}
