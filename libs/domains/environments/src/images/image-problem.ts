/** What is looked at, in this order. */
export type ImageCheckName = 'reference' | 'registry' | 'manifest' | 'platform' | 'size' | 'pull' | 'probe';

/** Why an image cannot be run. The message is a sentence for people, and tells nothing of what is behind an address. */
export class ImageProblem extends Error {
  constructor(
    readonly check: ImageCheckName,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
