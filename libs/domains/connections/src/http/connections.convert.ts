import { connectionId } from '@aps/contracts';
import {
  AuthorizationResponse,
  CatalogCard,
  ConnectionResponse,
  CreateConnectionResponse,
  MethodField,
  MethodResponse,
  ReconnectResponse,
  StewardedConnectionResponse,
} from '@aps/dtos';
import { answer } from '@aps/platform/http';
import type { Card, RankedMethod } from '../catalog/catalog';
import type { ConnectionView, StewardedConnection } from '../connections.queries';
import type { Connected, Reconnected } from '../connections.service';
import type { Asked } from '../consents/connection-consents';

export const toConnection = (connection: ConnectionView): ConnectionResponse =>
  answer(ConnectionResponse, connection, {
    id: connectionId(connection.id),
    integration_id: connection.id,
    used_by_agent_ids: connection.dependents.agent_ids,
  });

export const toStewarded = (connection: StewardedConnection): StewardedConnectionResponse =>
  answer(StewardedConnectionResponse, connection, { id: connectionId(connection.id) });

export const toCard = (card: Card): CatalogCard => answer(CatalogCard, card, { connected: card.connection_count > 0 });

export const toMethod = (method: RankedMethod): MethodResponse =>
  answer(MethodResponse, method, {
    recommended: method.rank === 1,
    fields: method.fields.map((field) => answer(MethodField, field)),
  });

/** Where somebody goes to consent, if anywhere. */
const whither = (asked: Asked | null) => ({
  authorize_url: asked?.authorizeUrl ?? null,
  expires_at: asked?.expiresAt.toISOString() ?? null,
});

export const toAuthorization = ({ authorizeUrl, expiresAt }: Asked): AuthorizationResponse => ({
  authorize_url: authorizeUrl,
  expires_at: expiresAt.toISOString(),
});

export const toCreated = ({ connection, asked }: Connected): CreateConnectionResponse => ({
  connection: toConnection(connection),
  ...whither(asked),
});

export const toReconnected = ({ asked, ...result }: Reconnected): ReconnectResponse => ({ ...result, ...whither(asked) });
