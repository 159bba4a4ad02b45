import { configSection, flag, integer, setting } from '@aps/platform/config';

const perMinute = (env: string, fallback: number, what: string) =>
  setting(env, integer(fallback, 0, 1_000_000), `${what} a minute; 0 = no limit`);

export const rateLimitConfig = configSection('rate-limit', {
  enabled: setting('RATE_LIMITS', flag(true), 'Request rate limits, all of them: on or off'),
  token: perMinute('RATE_LIMIT_TOKEN', 600, 'Requests of one session, API token or token of a machine'),
  tokenBurst: setting('RATE_LIMIT_TOKEN_BURST', integer(100, 1, 1_000_000), 'Requests of one session or API token at once'),
  login: perMinute('RATE_LIMIT_LOGIN', 10, 'Log-in attempts from one IP address'),
  provider_sign_in: perMinute('RATE_LIMIT_PROVIDER_SIGN_IN', 60, 'Sign-ins by an identity provider begun, and ended, from one IP address'),
  signup: perMinute('RATE_LIMIT_SIGNUP', 10, 'Sign-ups from one IP address'),
  waitlist: perMinute('RATE_LIMIT_WAITLIST', 10, 'Waitlist entries from one IP address'),
  password_reset: perMinute('RATE_LIMIT_PASSWORD_RESET', 10, 'Password reset requests from one IP address'),
  verification: perMinute('RATE_LIMIT_VERIFICATION', 10, 'Proofs of addresses, and requests for their links, from one IP address'),
  // Each session has limits of its own, and would else be exchanged for one that has used up none.
  refresh: perMinute('RATE_LIMIT_REFRESH', 5, 'Exchanges of sessions of one user'),
  // Each asks the payment provider, which counts what all organizations ask together.
  billing: perMinute('RATE_LIMIT_BILLING', 20, 'Checkouts, changes of plan, cancellations and portals of one user, in all organizations'),
  webhook_channel: perMinute('RATE_LIMIT_WEBHOOK_CHANNEL', 300, 'Messages of one webhook channel'),
  prompt_test: perMinute('RATE_LIMIT_PROMPT_TEST', 30, 'Prompt tests of one session or API token'),
  export: perMinute('RATE_LIMIT_EXPORT', 6, 'Exports of one session or API token'),
  bodies_per_address: setting(
    'RATE_LIMIT_BODIES_PER_ADDRESS',
    integer(64, 0, 1_000_000),
    'Bodies for webhooks that may be coming from one IP address at once, at one gateway; 0 = no limit',
  ),
  sse_per_user: setting(
    'RATE_LIMIT_SSE_PER_USER',
    integer(20, 0, 1_000_000),
    'Event streams that one user may have open at once; 0 = no limit',
  ),
  lists_per_user: setting(
    'RATE_LIMIT_LISTS_PER_USER',
    integer(20, 0, 1_000_000),
    'Lists of many or large rows that one user may be reading at once; 0 = no limit',
  ),
  // As many as a message may have.
  files_per_user: setting(
    'RATE_LIMIT_FILES_PER_USER',
    integer(20, 0, 1_000_000),
    'Files that one user may upload or download at once; 0 = no limit',
  ),
});

/** Limits that a route can ask for, and whom each counts. */
export const RULES = {
  login: 'ip',
  provider_sign_in: 'ip',
  signup: 'ip',
  waitlist: 'ip',
  password_reset: 'ip',
  verification: 'ip',
  refresh: 'user',
  billing: 'user',
  prompt_test: 'credential',
  export: 'credential',
} as const satisfies Partial<Record<keyof typeof rateLimitConfig.settings, 'ip' | 'user' | 'credential'>>;

export type RuleName = keyof typeof RULES;
