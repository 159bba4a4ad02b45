import type { ConnectionMethod } from '@aps/entities';
import type { App } from './apps';

/** Something that whoever connects has to say, or may. */
export interface MethodField {
  name: string;
  label: string;
  type: 'text' | 'password';
  secret: boolean;
  required: boolean;
  help: string | null;
}

/** A way to connect. */
export interface Method {
  label: string;
  fields: MethodField[];
  /** Somebody has to consent at the server's own pages first. */
  consents?: boolean;
}

const secret = (name: string, label: string, help: string | null = null, required = true): MethodField => ({
  ...{ name, label, type: 'password', secret: true },
  required,
  help,
});
const text = (name: string, label: string, help: string | null = null, required = true): MethodField => ({
  ...{ name, label, type: 'text', secret: false },
  required,
  help,
});

const CLIENT = [
  text('client_id', 'Client ID', 'Only where the server registers no clients by itself.', false),
  secret('client_secret', 'Client secret', 'Only of a client that has one.', false),
];

const METHODS: Record<ConnectionMethod, Method> = {
  none: { label: 'No credentials', fields: [] },
  api_key: { label: 'API key', fields: [secret('api_key', 'API key')] },
  bearer: { label: 'Access token', fields: [secret('token', 'Access token', 'Sent as a bearer token.')] },
  mcp_token: { label: 'Token of the server', fields: [secret('token', 'Token', 'Sent as a bearer token.')] },
  basic: { label: 'User name and password', fields: [text('username', 'User name'), secret('password', 'Password')] },
  mcp_oauth: { label: 'Sign in at the server', fields: CLIENT, consents: true },
  // At the provider of managed apps, which is a client of the app already.
  oauth2: { label: 'Sign in', fields: [], consents: true },
};

/** A way to connect an app. */
export function methodOf(app: App, method: ConnectionMethod): Method {
  const known = METHODS[method];
  if (method !== 'api_key' || app.server_url !== null) return known;
  const header = text('header', 'Header', 'Name of the header that the key is sent in. Default: x-api-key.', false);
  return { ...known, fields: [...known.fields, header] };
}

/** Whether it needs somebody's consent. */
export const consents = (method: ConnectionMethod): boolean => METHODS[method].consents === true;

/** Whether the provider of managed apps keeps what it is consented to, and calls the tools. */
export const isManaged = ({ method }: { method: ConnectionMethod }): boolean => method === 'oauth2';
