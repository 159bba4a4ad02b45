import { configSection, setting } from '@aps/platform/config';
import { z } from 'zod';

const name = (fallback: string) =>
  z
    .string()
    .regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, 'must be a name of Kubernetes')
    .default(fallback);

export const kubernetesConfig = configSection('sandbox-kubernetes', {
  namespace: setting(
    'SANDBOX_NAMESPACE',
    name('agent-platform-sandbox'),
    'Namespace of the pods that commands run in, where SANDBOX_DRIVER is kubernetes',
  ),
  runtimeClass: setting(
    'SANDBOX_RUNTIME_CLASS',
    z.string().optional(),
    'RuntimeClass of those pods, e.g. gvisor. Empty: what the cluster has for all',
  ),
  storageClass: setting(
    'SANDBOX_K8S_STORAGE_CLASS',
    z.string().optional(),
    'StorageClass of workspaces. Empty: what the cluster has for all',
  ),
  storage: setting(
    'SANDBOX_K8S_STORAGE',
    z
      .string()
      .regex(/^\d+(Mi|Gi)$/, 'must be a size, as 1Gi')
      .default('1Gi'),
    'Size of the volume of a workspace',
  ),
  api: setting(
    'SANDBOX_K8S_API',
    z.url({ protocol: /^https?$/ }).default('https://kubernetes.default.svc'),
    'Address of the API of the cluster',
  ),
  credentials: setting(
    'SANDBOX_K8S_CREDENTIALS',
    z.string().default('/var/run/secrets/kubernetes.io/serviceaccount'),
    'Folder with the files token and ca.crt, by which that API is asked',
  ),
});
