import { Injectable } from '@nestjs/common';
import { chatSeenBy } from '@aps/guards';
import { Database, statement } from '@aps/platform/database';

// Who has left the organization, or may not open the chat any more, views nothing, whatever Redis still remembers.
const PEOPLE = statement<Person>(`
  SELECT u.id AS user_id, u.name, u.avatar_url
  FROM users u JOIN memberships m ON m.user_id = u.id AND m.org_id = $1 JOIN chats c ON c.org_id = $1 AND c.id = $2
  WHERE u.id = ANY($3::uuid[]) AND u.deactivated_at IS NULL AND ${chatSeenBy('u.id')}
  ORDER BY lower(u.name), u.id`);

/** A viewer as others see them. */
export interface Person {
  user_id: string;
  name: string;
  avatar_url: string | null;
}

/** Reads who viewers are. Never writes. */
@Injectable()
export class PresenceQueries {
  constructor(private readonly db: Database) {}

  /** Those of these users who may have the chat open, by name. */
  async people(orgId: string, chatId: string, userIds: string[]): Promise<Person[]> {
    return userIds.length === 0 ? [] : this.db.query(PEOPLE, [orgId, chatId, userIds]);
  }
}
