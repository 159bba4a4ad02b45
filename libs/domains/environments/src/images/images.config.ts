import { configSection, setting } from '@aps/platform/config';
import { registryList } from './image-reference.policy';

export const imagesConfig = configSection('images', {
  registries: setting(
    'CUSTOM_IMAGE_REGISTRIES',
    registryList.prefault('docker.io,ghcr.io,quay.io,public.ecr.aws,registry.gitlab.com,*.pkg.dev'),
    'Registries whose images organizations may run commands in: host, host:port, or *.host for what is below a host; separated by commas',
  ),
});
