import { Injectable } from '@nestjs/common';
import { DomainError, notFound, refuseField, refuseValue } from '@aps/contracts';
import type { OrgScope } from '@aps/guards';
import { Database, type Tx } from '@aps/platform/database';
import { ChatLog } from '../state/chat-log';
import { effectOf } from '../state/chat-state.policy';
import { ChatState } from '../state/chat-state.repository';
import { mayShare } from './actions.policy';
import { CloseService } from './close.service';
import { ControlRepository, type ControlledChat } from './control.repository';
import { EndService } from './end.service';

export interface ChatPatch {
  archived?: boolean;
  shared?: boolean;
  title?: string | null;
}

/** Changes what a chat is to its users. */
@Injectable()
export class UpdateService {
  constructor(
    private readonly db: Database,
    private readonly control: ControlRepository,
    private readonly chats: ChatState,
    private readonly closing: CloseService,
    private readonly ends: EndService,
    private readonly log: ChatLog,
  ) {}

  /**
   * Renames, shares and archives, all of it or nothing. Sharing reaches every chat that this one has
   * delegated to; where it ends, so do the turns in them that act for others.
   *
   * @throws DomainError 404; 403 `creator_only`; 422 `cannot_unarchive`, `follows_root`, or for a patch without a field
   */
  async update(scope: OrgScope, agentId: string, chatId: string, patch: ChatPatch): Promise<void> {
    if (patch.archived === undefined && patch.shared === undefined && patch.title === undefined)
      throw refuseValue(['body'], 'Give at least one of archived, shared and title.');
    await this.db.transaction(scope, async (tx) => {
      const alone = patch.shared === undefined ? await this.control.lock(tx, scope, agentId, chatId) : null;
      const tree = patch.shared === undefined ? alone && [alone] : await this.control.lockTree(tx, scope, agentId, chatId);
      const chat = tree?.at(-1);
      if (!tree || !chat) throw notFound('Chat');
      const at = this.db.now();
      if (patch.shared !== undefined) await this.share(tx, scope, chat, tree, patch.shared, at);
      if (patch.title !== undefined && patch.title !== chat.title) await this.rename(tx, chat, patch.title, at);
      if (patch.archived === false && chat.status === 'ARCHIVED')
        throw refuseField(
          'cannot_unarchive',
          ['archived'],
          'An archived chat stays archived; only continuing it can open it again, where that is possible.',
        );
      const closes = patch.archived && effectOf('archive', chat) === 'close';
      if (closes) await this.closing.archive(tx, chat, at);
      if (patch.shared === false) await this.ends.ofOthers(tx, closes ? tree.slice(0, -1) : tree);
    });
  }

  private async share(tx: Tx, scope: OrgScope, chat: ControlledChat, tree: ControlledChat[], shared: boolean, at: Date): Promise<void> {
    if (chat.created_by === null || chat.created_by !== scope.actor.userId)
      throw new DomainError('creator_only', 'Only the user who began a chat may change who sees it.');
    if (!mayShare(chat, scope.actor.userId) && chat.shared !== shared) {
      throw refuseField('follows_root', ['shared'], 'This chat was begun by another one and is seen by whoever sees that one.', {
        root_chat_id: chat.root_chat_id,
      });
    }
    await this.chats.share(
      tx,
      tree.map((c) => c.id),
      shared,
      at,
    );
  }

  private async rename(tx: Tx, chat: ControlledChat, title: string | null, at: Date): Promise<void> {
    await this.chats.rename(tx, chat.id, title, at);
    await this.log.tell(tx, chat.id, [{ type: 'title_changed', data: { title } }], at);
  }
}
