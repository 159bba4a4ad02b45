import { accepted, persist } from './persist';
import type { Platform } from './platform';

/** More than the calls of any campaign cost. */
const CREDITS = '1000000';

/** What paying in credits came to. */
export interface CreditsVerdict {
  credits_burned: number;
  /** Invariants of credits that the proof found broken, by name. */
  credits_broken: string[];
}

/** Calls are paid in credits from now on. Needs `admin-api` among the apps. */
export async function payInCredits(platform: Platform): Promise<void> {
  const { org_id: org } = platform.demo;
  const subscribed = await platform.admin('PATCH', `/orgs/${org}/subscription`, { overrides: { enforces_credits: true } });
  const adjusted = await platform.admin('POST', `/orgs/${org}/credits/adjust`, { delta: CREDITS, reason: 'Certificate' });
  if (subscribed.status >= 300 || adjusted.status >= 300) throw new Error(`Credits answered ${subscribed.status} and ${adjusted.status}`);
}

/** What the calls have burned, and which invariants of credits the proof finds broken. */
export async function creditsOf(platform: Platform): Promise<CreditsVerdict> {
  const { org_id: org } = platform.demo;
  const { balance } = await persist(() => platform.admin('GET', `/orgs/${org}/credits`).then(accepted));
  const { invariants } = await persist(() => platform.admin('GET', `/credits/proof?org_id=${org}`).then(accepted));
  const broken = (invariants as { name: string; ok: boolean }[]).filter(({ ok }) => !ok).map(({ name }) => name);
  return { credits_burned: Math.round((Number(CREDITS) - Number(balance)) * 100) / 100, credits_broken: broken };
}
