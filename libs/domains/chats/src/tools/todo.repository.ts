import { Injectable } from '@nestjs/common';
import { Todo } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { OrgTable, statement, type Db } from '@aps/platform/database';
import { uuidv7 } from 'uuidv7';

const DELETE_OTHERS = statement(`DELETE FROM todos WHERE chat_id = $1 AND org_id = $2 AND NOT id = ANY($3)`);
const INVALIDATE = statement(
  `UPDATE todos SET status = 'invalidated', updated_at = $2 WHERE chat_id = $1 AND status IN ('pending', 'in_progress')`,
);
const UPSERT = statement(`INSERT INTO todos (id, org_id, chat_id, position, title, status)
       SELECT x.id, $2, $1, x.position, x.title, x.status FROM jsonb_to_recordset($3) AS x(id uuid, position int, title text, status text)
       ON CONFLICT (id) DO UPDATE SET position = excluded.position, title = excluded.title, status = excluded.status, updated_at = now()`);

/** The todos of a chat. */
@Injectable()
export class TodoRepository {
  private readonly todos = new OrgTable(Todo);

  list(db: Db, scope: OrgScope, chatId: string): Promise<Todo[]> {
    return this.todos.list(db, scope, { chat_id: chatId }, { position: 'ASC' });
  }

  /** What the agent of a deleted chat still meant to do is invalid. */
  async invalidate(db: Db, chatId: string, at: Date): Promise<void> {
    await db.execute(INVALIDATE, [chatId, at]);
  }

  /** Makes the list what is wanted, in that order. Ids of this chat's todos are kept, all others are new. */
  async replace(db: Db, scope: OrgScope, chatId: string, wanted: { id?: string; title: string; status: string }[]): Promise<Todo[]> {
    const known = new Set((await this.list(db, scope, chatId)).map((t) => t.id));
    const seen = new Set<string>();
    const rows = wanted.map((todo, position) => {
      const id = todo.id && known.has(todo.id) && !seen.has(todo.id) ? todo.id : uuidv7();
      seen.add(id);
      return { id, position, title: todo.title, status: todo.status };
    });
    await db.execute(DELETE_OTHERS, [chatId, scope.orgId, [...seen]]);
    await db.execute(UPSERT, [chatId, scope.orgId, JSON.stringify(rows)]);
    return this.list(db, scope, chatId);
  }
}
