import type { StepTool } from '../tools/step-tools';

/** A tool that steps may call, which answers what it was given. */
export const aTool = (slug: string, over: Partial<StepTool> = {}): StepTool => ({
  slug,
  accessLevel: 'read',
  idempotent: false,
  inputSchema: { type: 'object', properties: { email: { type: 'string' } } },
  connectionId: null,
  call: (args) => Promise.resolve({ output: args }),
  ...over,
});
