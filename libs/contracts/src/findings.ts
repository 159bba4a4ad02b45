/** What keeps an organization from moving. */
export const FINDING_KINDS = ['suspended', 'budget', 'credits', 'cap', 'queue', 'route', 'key_unreadable', 'worker'] as const;
export type FindingKind = (typeof FINDING_KINDS)[number];

/** What helps. */
export const FINDING_ACTIONS = [
  'unsuspend',
  'raise_budget',
  'add_credits',
  'wait_or_raise_cap',
  'scale_workers',
  'check_workers',
  'fix_route',
  'store_key',
] as const;
export type FindingAction = (typeof FINDING_ACTIONS)[number];
