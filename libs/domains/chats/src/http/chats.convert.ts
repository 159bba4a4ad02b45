import type { ChatMessageDto, ChatResponse, ChatSummary, ChatTodo } from '@aps/dtos';
import type { ChatRow, MessageRow, TodoRow } from '@aps/chats';
import { decimalText } from '@aps/platform/http';

const iso = (date: Date | null): string | null => date && date.toISOString();

/** @param hideDollars the organization pays in credits */
export function toChatSummary(chat: ChatRow, hideDollars: boolean): ChatSummary {
  return {
    id: chat.id,
    agent_id: chat.agent_id,
    agent_revision_id: chat.agent_revision_id,
    rollout_id: chat.rollout_id,
    arm_label: chat.arm_label,
    title: chat.title,
    status: chat.status,
    pause: chat.pause,
    stop_reason: chat.stop_reason,
    error: chat.error,
    stop_requested_at: iso(chat.stop_requested_at),
    completed_at: iso(chat.completed_at),
    archived: chat.status === 'ARCHIVED',
    archived_at: iso(chat.archived_at),
    shared: chat.shared,
    created_by: chat.created_by,
    environment_id: chat.environment_id,
    sandbox_enabled: chat.sandbox_enabled,
    model_mode_override: chat.model_mode_override,
    parent_chat_id: chat.parent_chat_id,
    root_chat_id: chat.root_chat_id,
    source_chat_id: chat.source_chat_id,
    origin: { kind: chat.origin_kind, ref_id: chat.origin_ref_id },
    cost_usd: hideDollars ? null : decimalText(chat.cost_usd),
    cost_credits: decimalText(chat.cost_credits),
    last_message_at: iso(chat.last_message_at),
    message_count: chat.message_count,
    pending_hitl_count: chat.pending_hitl_count ?? 0,
    created_at: chat.created_at.toISOString(),
    updated_at: chat.updated_at.toISOString(),
  };
}

export function toChatMessage(m: MessageRow, hideDollars: boolean): ChatMessageDto {
  return {
    id: m.id,
    seq: m.seq,
    role: m.role,
    content: m.content,
    attachments: m.attachments ?? [],
    tool_calls: m.tool_calls ?? [],
    tool_call_id: m.tool_call_id,
    tool_name: m.tool_name,
    model: m.model,
    created_at: m.created_at.toISOString(),
    usage: m.usage && hideDollars ? { ...m.usage, cost_usd: null } : m.usage,
    finish_reason: m.finish_reason,
    interrupted: m.interrupted,
  };
}

export function toChat(chat: ChatRow, messages: MessageRow[], hideDollars: boolean): ChatResponse {
  return { ...toChatSummary(chat, hideDollars), messages: messages.map((m) => toChatMessage(m, hideDollars)) };
}

export function toTodo(todo: TodoRow): ChatTodo {
  return { ...todo, created_at: todo.created_at.toISOString(), updated_at: todo.updated_at.toISOString() };
}
