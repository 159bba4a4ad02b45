import { ChatMessageDto, type ChatResponse, ChatSummary, ChatTodo, type MessageQuoteResponse } from '@aps/dtos';
import type { ChatRow, MessageRow } from '../state/chat.types';
import type { TurnQuote } from '../turns/turn-quotes';
import type { Todo } from '@aps/entities';
import type { Listed } from '@aps/platform/database';
import { answer, toObject, type PageStream } from '@aps/platform/http';

/** @param hideDollars the organization pays in credits */
export function toChatSummary(chat: ChatRow, hideDollars: boolean): ChatSummary {
  return answer(ChatSummary, chat, {
    archived: chat.status === 'ARCHIVED',
    origin: { kind: chat.origin_kind, ref_id: chat.origin_ref_id },
    cost_usd: hideDollars ? null : chat.cost_usd,
    pending_hitl_count: chat.pending_hitl_count ?? 0,
  });
}

export function toChatMessage(m: MessageRow, hideDollars: boolean): ChatMessageDto {
  return answer(ChatMessageDto, m, {
    attachments: m.attachments ?? [],
    tool_calls: m.tool_calls ?? [],
    usage: m.usage && hideDollars ? { ...m.usage, cost_usd: null } : m.usage,
  });
}

export function toChat(chat: ChatRow, messages: Listed<MessageRow>, hideDollars: boolean): ChatResponse | PageStream<ChatResponse> {
  return toObject(toChatSummary(chat, hideDollars), 'messages', messages, (m) => toChatMessage(m, hideDollars));
}

export function toQuote({ model_key, blocker, ...quote }: TurnQuote, hideDollars: boolean): MessageQuoteResponse {
  const { input_tokens, max_output_tokens, credits, cost_usd, credits_remaining } = quote;
  const estimate = { input_tokens, max_output_tokens, credits, cost_usd: hideDollars ? null : cost_usd };
  return { allowed: blocker === null, blocker, model_key, estimate, credits_remaining };
}

export function toTodo(todo: Todo): ChatTodo {
  return answer(ChatTodo, todo);
}
