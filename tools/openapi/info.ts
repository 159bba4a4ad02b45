/** What the document says about the API as a whole. */
export const INFO = {
  title: 'Agent platform API',
  version: '2026-11-20',
  description: [
    'Build agents, talk to them in chats, and govern what they do.',
    '',
    '**Authentication.** `Authorization: Bearer <token>`, a session (`aps_…`, from login) or an API token (`apt_…`, from `POST /api/tokens`).',
    '**Errors.** 422 lists every problem of a request as `HTTPValidationError`; every other error is `{detail, code, request_id, context?}`. `code` is stable.',
    '**Lists.** `limit` (1-100; every row when omitted) and `offset`; answers carry `items`, `total` and `next_offset`.',
    '**Repeats.** POSTs that create or dispatch take an `Idempotency-Key`.',
    '**Changes** are additive; ignore fields and enum values that you do not know.',
  ].join('\n'),
  tags: {
    Authentication: 'Signing up, in and out.',
    'API tokens': 'Keys for programs.',
    Waitlist: 'Asking to be let in.',
    Organizations: 'Tenants.',
    Members: 'Who belongs to an organization, and as what.',
    Invitations: 'Offers of membership.',
    Agents: 'What an agent is: draft, instruction, sealed revisions, rollouts.',
    Skills: 'Instructions that agents mount.',
    Memories: 'What agents remember.',
    Chats: 'Talking to agents.',
    Models: 'Which models there are, and which an organization uses.',
    Usage: 'What was used.',
    Administration: 'For platform operators.',
  },
};
