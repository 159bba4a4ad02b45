export { IdentityProviders } from './identity-providers';
export { oidcConfig, type Provider } from './oidc.config';
export { ProviderSignIns, type SignedInThere } from './provider-sign-ins.service';
