import { isSlug } from '@aps/contracts';
import { configSection, setting } from '@aps/platform/config';
import { canonicalEmail } from '@aps/platform/email';
import { z } from 'zod';

/** What an identity provider says is believed: nobody between it and us may say it instead. */
const isTrustworthy = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || (protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname));

/** The domain of an address, as it is compared; undefined of what is none. */
export const domainOf = (email: string): string | undefined => canonicalEmail(email)?.split('@')[1];

/** Domains of addresses. */
const Domains = z.array(
  z.string().refine((domain) => domainOf(`a@${domain}`) === domain, 'each domain must be written in lower case and ASCII'),
);

const Provider = z.object({
  name: z.string().max(64).refine(isSlug, 'each name must be a slug'),
  /** What people are shown. */
  label: z.string().min(1).max(200).optional(),
  issuer: z.url('each issuer must be a URL').refine((url) => isTrustworthy(new URL(url)), 'each issuer must be https://'),
  client_id: z.string().min(1).max(500),
  client_secret: z.string().min(1).max(5_000).optional(),
  /** Whose addresses are believed where the provider does not say whether it has verified them. */
  trusted_domains: Domains.default([]),
  /** Of whose addresses alone it may speak; absent: of any. */
  domains: Domains.optional(),
});

/** An identity provider that people may sign in by. */
export type Provider = z.infer<typeof Provider>;

const providers = z
  .string()
  .default('[]')
  .transform((raw, ctx): readonly Provider[] => {
    const told = z
      .array(Provider)
      .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, 'each name must be another')
      .safeParse(json(raw));
    if (told.success) return told.data;
    for (const { path, message } of told.error.issues) ctx.addIssue({ code: 'custom', message: [...path, message].join(' ') });
    return z.NEVER;
  });

export const oidcConfig = configSection('oidc', {
  providers: setting(
    'OIDC_PROVIDERS',
    providers,
    'Identity providers (OpenID Connect) that people may sign in by, a JSON list of {"name", "label", "issuer", "client_id", "client_secret", "domains", "trusted_domains"}; each sends people back to <APP_URL>/api/auth/oidc/<name>/callback. Where there is one, a plan with enforced_idp_sso refuses sessions that began with a password',
    { secret: true },
  ),
});

function json(raw: string): unknown {
  try {
    return JSON.parse(raw);
  } catch {
    return undefined;
  }
}
