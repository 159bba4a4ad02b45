import path from 'node:path';
import { configSection, setting } from '@aps/platform/config';
import { storageConfig } from '@aps/platform/storage';
import { z } from 'zod';

/** What isolates commands; `auto` takes the first of them that works here, and never `process`. */
export const SANDBOX_DRIVERS = ['auto', 'kubernetes', 'docker', 'bubblewrap', 'namespaces', 'process'] as const;

export const sandboxConfig = configSection('sandbox', {
  driver: setting(
    'SANDBOX_DRIVER',
    z.enum(SANDBOX_DRIVERS, { error: `must be one of ${SANDBOX_DRIVERS.join(', ')}` }).default('auto'),
    'What isolates commands of agents: kubernetes, docker, bubblewrap, namespaces, or auto for the first of them that works. process isolates nothing, and is refused with NODE_ENV=production',
  ),
  dir: setting(
    'SANDBOX_DIR',
    z.string().optional(),
    'Folder of the workspaces of commands, best on a file system of its own; all processes that run some must see the same one. Empty: sandboxes in FILES_DIR',
  ),
  image: setting(
    'SANDBOX_IMAGE',
    z.string().default('docker.io/library/debian:12-slim'),
    'Image that commands of the built-in sandbox run in, where containers isolate them',
  ),
  egress: setting(
    'SANDBOX_EGRESS',
    z.enum(['off', 'public'], { error: 'must be off or public' }).default('off'),
    'Whether commands reach the network: off, or public for the internet without private, link-local and metadata addresses, which is for kubernetes only',
  ),
});

/** Where workspaces are, as an absolute path. */
export const sandboxDir = (): string => path.resolve(sandboxConfig.value.dir ?? path.join(storageConfig.value.dir, 'sandboxes'));
