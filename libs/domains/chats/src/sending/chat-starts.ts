import { Injectable } from '@nestjs/common';
import { AgentsQueries, type NewChatBasis } from '@aps/agents';
import type { FileReference } from '@aps/files';
import type { OrgScope } from '@aps/guards';
import { Database, storable, type Tx } from '@aps/platform/database';
import type { ChatOrigin } from '@aps/tools';
import { uuidv7 } from 'uuidv7';
import { agentDeleted } from '../state/chats.errors';
import { ChatState, type NewChatRow } from '../state/chat-state.repository';
import { QueueDepth } from '../turns/queue-depth';
import { TurnDispatch } from '../turns/turn-dispatch';
import { MessageFiles } from './message-files';
import { newMessage, SendRepository } from './send.repository';

/** What is said to an agent that no user has typed here. */
export interface GivenMessage {
  content: string;
  attachments?: FileReference[];
  /** The user on whose behalf it is said. */
  principal_id?: string | null;
}

/** A message that is stored, and the turn that answers it. */
export interface BegunTurn {
  chat_id: string;
  message_id: string;
  turn_id: string;
}

/** A chat that a domain above begins. */
export interface ChatStart {
  agent_id: string;
  title: string | null;
  origin: ChatOrigin;
  /** Address of who has written, where somebody outside has. */
  sender?: string | null;
  message: GivenMessage;
  /** Model calls that a turn of it may take, where its agent may take more. */
  max_steps?: number | null;
}

/** Begins chats together with their first turns, in the transactions of those who want them. Workers are told after the commit. */
@Injectable()
export class ChatStarts {
  constructor(
    private readonly db: Database,
    private readonly chats: ChatState,
    private readonly sending: SendRepository,
    private readonly files: MessageFiles,
    private readonly agents: AgentsQueries,
    private readonly depth: QueueDepth,
    private readonly dispatch: TurnDispatch,
  ) {}

  /**
   * Begins a chat that no human has begun, on the agent's live revision: everyone in the organization sees it.
   *
   * @param scope of the system: the message has no author
   * @param start its files are there already; what is gone of them stays gone
   * @returns that there is no such agent, or that the organization takes no turn, where nothing was written
   * @throws DomainError 409 `agent_deleted` where that happened at this moment: done again, it is a refusal
   */
  async start(
    tx: Tx,
    scope: OrgScope,
    { agent_id, title, origin, sender, message, max_steps }: ChatStart,
  ): Promise<BegunTurn | { refused: 'no_agent' | 'queue_full' }> {
    const id = uuidv7();
    const who = (sender ?? origin.ref_id)?.toLowerCase();
    const originator = who ? `${origin.kind}:${who}` : null;
    const basis = await this.agents.forNewChat(tx, scope, agent_id, { chat_id: id, originator });
    if (!basis) return { refused: 'no_agent' };
    if (!(await this.depth.hasRoom(tx, scope.orgId))) return { refused: 'queue_full' };
    return this.begin(
      tx,
      scope,
      basis,
      { id, title, origin_kind: origin.kind, origin_ref_id: origin.ref_id, originator, max_steps },
      message,
    );
  }

  /** The same for who has found out that the chat may be, and says more of it. The room for its turn is the caller's to ask for. */
  async begin(
    tx: Tx,
    scope: OrgScope,
    basis: NewChatBasis,
    chat: Omit<NewChatRow, 'org_id' | 'created_at'>,
    said: GivenMessage,
  ): Promise<BegunTurn> {
    const m = newMessage({ ...said, content: storable(said.content) }, this.db.now());
    const chatId = chat.id;
    await this.chats.insert(tx, basis, { ...storable(chat), org_id: scope.orgId, created_at: m.at });
    if (!(await this.sending.send(tx, scope, basis.agent_id, chatId, m))?.dispatch) throw agentDeleted();
    if (m.attachments) await this.files.carry(tx, scope, m.messageId, m.attachments);
    await this.dispatch.handOut(tx, scope, { id: m.turnId, chat_id: chatId });
    return { chat_id: chatId, message_id: m.messageId, turn_id: m.turnId };
  }
}
