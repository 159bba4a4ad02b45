/** A field that names a model and may be cleared. @param what which one it is, as a sentence goes on: `that names chats` */
export const modelKey = (what: string) => ({
  optional: true,
  nullable: true,
  min: 1,
  max: 128,
  description: `Key of the model ${what}; null clears it.`,
  example: 'claude-sonnet-5-5',
});
