import { refuseValue } from '@aps/contracts';
import { isAllowed, normalText, readReference } from './image-reference.policy';
import { imagesConfig } from './images.config';

/**
 * A reference as it is stored.
 *
 * @throws DomainError `validation_error` where it is none, or of a registry that images may not be of
 */
export function namedImage(written: string | null | undefined): string {
  const refuse = (msg: string) => refuseValue(['body', 'image_ref'], msg);
  if (!written) throw refuse('A custom image needs a reference.');
  const read = readReference(written);
  if ('problem' in read) throw refuse(read.problem);
  if (!isAllowed(read.reference.registry, imagesConfig.value.registries)) throw refuse('Images of this registry may not be run here.');
  return normalText(read.reference);
}
