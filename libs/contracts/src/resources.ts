/** What can be in a project. */
export const PROJECT_RESOURCE_TYPES = [
  'agent',
  'agent_team',
  'inbox',
  'process',
  'prompt_template',
  'knowledge_base',
  'skill',
  'connection',
] as const;
export type ProjectResourceType = (typeof PROJECT_RESOURCE_TYPES)[number];
