import { Injectable, Logger } from '@nestjs/common';
import { AgentRevisions } from '@aps/agents';
import { Holds, InferenceError, ModelResolver, ReceiptsRepository, type WorkHold, type ModelCall } from '@aps/inference';
import { NO_CALLER, Database, insist, type Tx } from '@aps/platform/database';
import { ChatLog } from '../state/chat-log';
import { ChatState } from '../state/chat-state.repository';
import { headOf } from '../state/text';
import { TitleRepository, type UntitledChat } from './title.repository';
import { wishOf } from './turn-calls';

const MAX_TITLE = 80;
/** Characters of a text that are looked at, as its pattern goes back: the cap of the call binds no server that does not keep to it. */
const MAX_READ = 1_000;
const SYSTEM =
  'Name the conversation that begins with the following message, in its language, in at most six words. Answer with the name alone: no quotes, no full stop.';

/** Gives a chat its name after the first answer. A chat that was created with a title, or got one meanwhile, is left alone. */
@Injectable()
export class TitleService {
  private readonly logger = new Logger('TitleService');

  constructor(
    private readonly db: Database,
    private readonly titles: TitleRepository,
    private readonly chats: ChatState,
    private readonly revisions: AgentRevisions,
    private readonly resolver: ModelResolver,
    private readonly holds: Holds,
    private readonly receipts: ReceiptsRepository,
    private readonly log: ChatLog,
  ) {}

  async generate(chatId: string, signal: AbortSignal): Promise<void> {
    const chat = await this.titles.opening(this.db, chatId);
    if (!chat?.opening) return;
    const { opening, org_id: orgId, agent_id: agentId } = chat;
    await this.holds.holding({ orgId, chatId, agentId, name: `title:${chatId}`, feature: 'title' }, async (hold) => {
      await this.nameIt(chatId, { ...chat, opening }, hold, signal);
      if (!hold.receipts.length) await hold.release();
    });
  }

  private async nameIt(chatId: string, chat: UntitledChat & { opening: string }, hold: WorkHold, signal: AbortSignal): Promise<void> {
    let title: string;
    try {
      const requested = wishOf(chat, await this.revisions.config(chat.agent_revision_id));
      const model = await this.resolver.resolve({ orgId: chat.org_id, scope: 'chat', feature: 'title', requested });
      const messages: ModelCall['messages'] = [{ role: 'user', content: chat.opening }];
      const call: ModelCall = { system: SYSTEM, messages, maxOutputTokens: 100, feature: 'title' };
      const result = await hold.ask(model, call, { signal });
      title = cleanTitle(result.text) || cleanTitle(chat.opening);
    } catch (error) {
      if (!(error instanceof InferenceError)) throw error;
      // A title is no reason to try for hours: the opening words name the chat well enough.
      this.logger.warn(`No title from the model (${error.code}); the opening words serve`);
      title = cleanTitle(chat.opening);
    }
    await this.store(chatId, chat, title, hold);
  }

  /** The call is paid for, also where the chat has got a title meanwhile. Tried again here, since the job would ask the model again. */
  private async store(chatId: string, chat: { org_id: string; agent_id: string }, title: string, { receipts }: WorkHold): Promise<void> {
    const at = this.db.now();
    const write = async (tx: Tx) => {
      // Where there is no word to name it by, a later turn may have one.
      if (title && (await this.titles.lockUntitled(tx, chatId))) {
        await this.chats.rename(tx, chatId, title, at);
        await this.log.tell(tx, chatId, [{ type: 'title_changed', data: { title } }], at);
      }
      const { org_id, agent_id } = chat;
      const owner = { org_id, chat_id: chatId, agent_id };
      await this.receipts.insertOnce(tx, receipts, owner, (cost) => this.chats.addCost(tx, chatId, cost));
    };
    await insist(() => this.db.transaction(NO_CALLER, write));
  }
}

/** One line without quotes around it, cut at a word. */
export function cleanTitle(text: string): string {
  const beginning = text.trimStart().slice(0, MAX_READ).toWellFormed().replaceAll('\0', '');
  const line = (beginning.split('\n').find((l) => l.trim()) ?? '')
    .trim()
    .replace(/^["'\u201c\u201d\u00ab\u00bb#*\s]+|["'\u201c\u201d\u00ab\u00bb*\s]+$/g, '');
  if (line.length <= MAX_TITLE) return line;
  const cut = headOf(line, MAX_TITLE);
  return `${headOf(cut, Math.max(cut.lastIndexOf(' '), MAX_TITLE / 2)).trimEnd()}…`;
}
