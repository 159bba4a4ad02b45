/** Areas of API token scopes: `<area>:read` for GET, `<area>:write` for everything else. */
export const TOKEN_AREAS = [
  'agents',
  'chats',
  'decisions',
  'rollouts',
  'inboxes',
  'prompts',
  'processes',
  'environments',
  'knowledge',
  'connections',
  'members',
  'projects',
  'teams',
  'billing',
  'settings',
  'admin',
] as const;
export type TokenArea = (typeof TOKEN_AREAS)[number];
