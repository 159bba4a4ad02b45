import { connectionId } from '@aps/contracts';
import {
  CatalogCard,
  ConnectionResponse,
  CreateConnectionResponse,
  MethodField,
  MethodResponse,
  StewardedConnectionResponse,
} from '@aps/dtos';
import { answer } from '@aps/platform/http';
import type { Card, ConnectionView, RankedMethod, StewardedConnection } from '..';

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

export const toCreated = (connection: ConnectionView): CreateConnectionResponse => ({
  connection: toConnection(connection),
  authorize_url: null,
  expires_at: null,
});
