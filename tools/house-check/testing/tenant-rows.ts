import { connectionUuid, connectionId as shownId } from '@aps/contracts';
import type { Database } from '@aps/platform/database';
import { sql } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';

// Rows of an organization that no request makes without a model, a mail or a machine.

/** What only a worker or an operator writes; and the chat is shared, so that its organization is all that hides it from strangers. */
export async function writeDirectly(
  db: Database,
  o: { id: string; mark: string; chatId: string; agentId: string; turnId: string },
): Promise<{ model: string; route: string; routeId: string; entryId: string; decisionId: string; requestId: string }> {
  const [route] = await db.query(
    sql<{ id: string }>(
      `INSERT INTO inference_routes (id, slug, label, dialect, base_url, owner_org_id) VALUES ($1, $2, $3, 'dialect_1', 'https://models.example/v1', $4) RETURNING id`,
    ),
    [uuidv7(), `route-${o.mark}`, o.mark, o.id],
  );
  const entryId = uuidv7();
  await db.execute(sql(`INSERT INTO model_catalog (id, owner_org_id, key, route_id, label, provider) VALUES ($1, $2, $3, $4, $3, 'own')`), [
    entryId,
    o.id,
    `model-${o.mark}`,
    route.id,
  ]);
  await db.execute(sql('UPDATE chats SET shared = true WHERE id = $1'), [o.chatId]);
  await db.execute(
    sql(`INSERT INTO turn_steps (turn_id, step_no, org_id, chat_id, kind, status) VALUES ($1, 1, $2, $3, 'model', 'done')`),
    [o.turnId, o.id, o.chatId],
  );
  await db.execute(sql(`INSERT INTO event_counts (topic, seq, org_id, counts) VALUES ('chat:' || $1::uuid, 0, $2, '{}')`), [
    o.chatId,
    o.id,
  ]);
  await db.execute(sql(`INSERT INTO todos (id, org_id, chat_id, position, title, status) VALUES ($1, $2, $3, 0, $4, 'pending')`), [
    uuidv7(),
    o.id,
    o.chatId,
    o.mark,
  ]);
  await db.execute(
    sql(`INSERT INTO inference_receipts (id, org_id, feature, chat_id, turn_id, step_no, agent_id, model_key, resolve_reason, route_id, input_tokens, cached_input_tokens,
       cache_write_tokens, output_tokens, reasoning_tokens, usd_cost, duration_ms)
     VALUES ($1, $2, 'turn', $3, $4, 1, $5, $6, 'agent', $7, 10, 0, 0, 5, 0, 0.5, 100)`),
    [uuidv7(), o.id, o.chatId, o.turnId, o.agentId, `model-${o.mark}`, route.id],
  );
  await db.execute(
    sql(
      `INSERT INTO call_holds (work, org_id, receipt_id, unit, amount, expires_at) VALUES ('turn:' || $1::text, $2, $3, 'usd', 0.5, now() + interval '1 day')`,
    ),
    [o.turnId, o.id, uuidv7()],
  );
  const decisionId = uuidv7();
  await db.execute(
    sql(`INSERT INTO decisions (id, org_id, chat_id, agent_id, agent_revision_id, turn_id, tool_call_id, kind, summary, basis, review_status, should_have)
     SELECT $1, c.org_id, c.id, c.agent_id, c.agent_revision_id, $3, 'call', 'act', $4, $4, 'disputed', $4 FROM chats c WHERE c.id = $2`),
    [decisionId, o.chatId, o.turnId, o.mark],
  );
  await db.execute(
    sql(`INSERT INTO prompt_runs (id, org_id, template_id, revision_id, source, status, model, input_preview, output, held_until)
     SELECT $1, r.org_id, r.template_id, r.id, 'test', 'succeeded', $3, $3, $3, now() FROM prompt_revisions r WHERE r.org_id = $2 LIMIT 1`),
    [uuidv7(), o.id, o.mark],
  );
  const requestId = uuidv7();
  await db.execute(
    sql(
      `INSERT INTO hitl_requests (id, org_id, chat_id, agent_id, turn_id, step_id, tool_call_id, kind, prompt, expires_at) VALUES ($1, $2, $3, $4, $5, '1', 'call', 'question', $6, now() + interval '1 day')`,
    ),
    [requestId, o.id, o.chatId, o.agentId, o.turnId, o.mark],
  );
  await db.execute(
    sql(
      `INSERT INTO chat_compactions (id, org_id, chat_id, turn_id, through_turn_no, through_seq, summary, tokens_before, tokens_after) VALUES ($1, $2, $3, $4, 1, 1, $5, 10, 1)`,
    ),
    [uuidv7(), o.id, o.chatId, o.turnId, o.mark],
  );
  const childId = uuidv7();
  await db.execute(
    sql(`INSERT INTO chats (id, org_id, agent_id, agent_revision_id, title, parent_chat_id, root_chat_id, depth, origin_kind, shared)
     SELECT $1, c.org_id, c.agent_id, c.agent_revision_id, $3, c.id, c.id, 1, 'agent', true FROM chats c WHERE c.id = $2`),
    [childId, o.chatId, o.mark],
  );
  await db.execute(
    sql(
      `INSERT INTO child_waits (id, org_id, parent_chat_id, parent_turn_id, tool_call_id, child_chat_id, status) VALUES ($1, $2, $3, $4, 'call', $5, 'finished')`,
    ),
    [uuidv7(), o.id, o.chatId, o.turnId, childId],
  );
  return { model: `model-${o.mark}`, route: `route-${o.mark}`, routeId: route.id, entryId, decisionId, requestId };
}

/** A message of an inbox, with a row of each table of theirs. */
export async function received(
  db: Database,
  o: { id: string; mark: string; inboxId: string; channelId: string; chatId: string; turnId: string },
): Promise<string> {
  const messageId = uuidv7();
  const rows: [string, unknown[]][] = [
    [
      `INSERT INTO inbox_messages (id, org_id, inbox_id, channel_id, channel_kind, sender_address, sender_key, subject, size_bytes, status, state, verdict, hold_reason, raw_expires_at)
       VALUES ($2, $1, $3, $4, 'email', $5, $5, $5, 10, 'settled', 'held', 'quarantined', 'quarantined', now() + interval '1 day')`,
      [messageId, o.inboxId, o.channelId, o.mark],
    ],
    [`INSERT INTO inbox_envelopes (message_id, org_id, headers, body_text) VALUES ($2, $1, '{}', $3)`, [messageId, o.mark]],
    [`INSERT INTO inbox_traces (message_id, org_id, evaluation_no, rows) VALUES ($2, $1, 1, '[]')`, [messageId]],
    [`INSERT INTO intake_counts (org_id, of, what, day, n) VALUES ($1, $2, 'messages', current_date, 1)`, [o.inboxId]],
    [
      `INSERT INTO inbox_replies (id, org_id, inbox_id, message_id, chat_id, source_id, to_address, body_text, state, due_at) VALUES ($2, $1, $3, $4, $5, $6, $7, $7, 'stood_down', now())`,
      [uuidv7(), o.inboxId, messageId, o.chatId, o.turnId, o.mark],
    ],
  ];
  for (const [text, values] of rows) await db.execute(sql(text), [o.id, ...values]);
  return messageId;
}

/** A connection with a tool, as its server has once listed it. */
export async function connected(db: Database, o: { id: string; mark: string; ownerId: string }): Promise<string> {
  const connection = uuidv7();
  const rows: [string, unknown[]][] = [
    [
      `INSERT INTO connections (id, org_id, slug, label, app_key, provider_key, method, status, scope, owner_user_id)
       VALUES ($2, $1, 'connection-' || $3::text, $3, 'custom-mcp', 'custom-mcp', 'none', 'active', 'org', $4)`,
      [connection, o.mark, o.ownerId],
    ],
    [
      `INSERT INTO connection_consents (id, org_id, connection_id, user_id, state_hash, request, expires_at) VALUES ($3, $1, $2, $4, decode(md5($5), 'hex'), $5, now())`,
      [connection, uuidv7(), o.ownerId, o.mark],
    ],
    [
      `INSERT INTO connection_tools (org_id, connection_id, name, description, input_schema, access_level) VALUES ($1, $2, 'find', $3, '{}', 'read')`,
      [connection, o.mark],
    ],
  ];
  for (const [text, values] of rows) await db.execute(sql(text), [o.id, ...values]);
  return shownId(connection);
}

/** A run of a process, with a row of each table of theirs, and a schedule; its ledgers share an id. */
export async function ran(
  db: Database,
  o: { id: string; mark: string; processId: string; revisionId: string },
): Promise<{ run_id: string; call_id: string; schedule_id: string }> {
  const [runId, callId, scheduleId] = [uuidv7(), uuidv7(), uuidv7()];
  const source = { kind: 'api', ref_id: null, user_id: null };
  const envelope = { id: runId, source, received_at: new Date().toISOString(), input: { text: o.mark }, attachments: [], message: null };
  const rows: [string, unknown[]][] = [
    [
      `INSERT INTO process_runs (id, org_id, status, process_id, revision_id, revision_hash, revision_version, label, envelope, source_kind, root_run_id, cost_usd, finished_at)
       VALUES ($2, $1, 'failed', $3, $4, '', 1, $5, $6, 'api', $2, 0.5, now())`,
      [runId, o.processId, o.revisionId, o.mark, JSON.stringify(envelope)],
    ],
    [
      `INSERT INTO process_steps (id, org_id, run_id, seq, path, step_id, kind, attempt, status, output, started_at) VALUES ($3, $1, $2, 1, 'say', 'say', 'transform', 1, 'failed', to_jsonb($4::text), now())`,
      [runId, uuidv7(), o.mark],
    ],
    [`INSERT INTO process_signals (id, org_id, run_id, name) VALUES ($3, $1, $2, $4)`, [runId, uuidv7(), o.mark]],
    [
      `INSERT INTO process_llm_calls (id, org_id, run_id, step_id, path, status, cost_usd, request_messages, response_messages) VALUES ($3, $1, $2, 'say', 'say', 'succeeded', 0.5, to_jsonb($4::text), '[]')`,
      [runId, callId, o.mark],
    ],
    [
      `INSERT INTO process_agent_calls (id, org_id, run_id, step_id, path, kind, status, cost_usd, result) VALUES ($3, $1, $2, 'say', 'say', 'turn', 'succeeded', 0.5, to_jsonb($4::text))`,
      [runId, callId, o.mark],
    ],
    [
      `INSERT INTO process_repairs (id, org_id, run_id, step_id, path, tool_slug, attempt, error, fixable, cost_usd, request) VALUES ($3, $1, $2, 'say', 'say', 'tool', 1, $4, true, 0.5, '[]')`,
      [runId, callId, o.mark],
    ],
    [
      `INSERT INTO schedules (id, org_id, name, target_kind, target_id, cron, timezone) VALUES ($2, $1, $3, 'process', $4, '0 6 * * *', 'UTC')`,
      [scheduleId, o.mark, o.processId],
    ],
  ];
  for (const [text, values] of rows) await db.execute(sql(text), [o.id, ...values]);
  return { run_id: runId, call_id: callId, schedule_id: scheduleId };
}

/** A command of an environment. */
export async function commanded(db: Database, o: { id: string; mark: string; environmentId: string; chatId: string }): Promise<void> {
  await db.execute(
    sql(`INSERT INTO environment_commands (id, org_id, environment_id, chat_id, call_key, workspace, kind, command, workdir, timeout_s, status, finished_at)
     VALUES ($1, $2, $3, $4, $5, $1, 'exec', $5, '/workspace', 120, 'done', now())`),
    [uuidv7(), o.id, o.environmentId, o.chatId, o.mark],
  );
}

/** What is found of a source, and a collection that its base keeps up with. @returns the latter's id */
export async function known(
  db: Database,
  o: { id: string; mark: string; kbId: string; sourceId: string; connectionId: string },
): Promise<string> {
  const [chunkId, syncId] = [uuidv7(), uuidv7()];
  await db.execute(
    sql(`INSERT INTO knowledge_chunks (id, org_id, kb_id, source_id, position, content, heading_path, char_start, char_end, token_count, words)
     VALUES ($4, $1, $2, $3, 0, $5, '{}', 0, 10, 5, to_tsvector('english', $5))`),
    [o.id, o.kbId, o.sourceId, chunkId, o.mark],
  );
  await db.execute(
    sql(`INSERT INTO knowledge_vectors (chunk_id, model, org_id, kb_id, bits, vector) VALUES ($3, $4, $1, $2, '1', '\\x0000803f')`),
    [o.id, o.kbId, chunkId, o.mark],
  );
  await db.execute(sql(`INSERT INTO knowledge_own_models (org_id, pieces, model, version) VALUES ($1, 200, decode(md5($3), 'hex'), $2)`), [
    o.id,
    uuidv7(),
    o.mark,
  ]);
  await db.execute(
    sql(
      `INSERT INTO knowledge_syncs (id, org_id, status, kb_id, connection_id, collection_id, collection_name, finished_at) VALUES ($3, $1, 'ok', $2, $4, $5, $5, now())`,
    ),
    [o.id, o.kbId, syncId, connectionUuid(o.connectionId), o.mark],
  );
  return syncId;
}

/** A check of a draft and a simulation, each with what it came to. */
export async function replayed(
  db: Database,
  o: { id: string; mark: string; agentId: string; chatId: string; ownerId: string },
): Promise<{ check_id: string; simulation_id: string }> {
  const [checkId, simulationId] = [uuidv7(), uuidv7()];
  const decision = { decision_id: uuidv7(), set: 'guard', kind: 'act', basis: o.mark, should_have: null, should_have_kind: null };
  const done = { tools: [], decisions: [], final_text: o.mark };
  const checked = { now: null, judged_by: null, error: null };
  for (const [id, kind, of, result] of [
    [checkId, 'draft_check', decision, checked],
    [simulationId, 'simulation', null, { before: done, after: done, error: null }],
  ] as const) {
    await db.execute(
      sql(`INSERT INTO replays (id, org_id, status, agent_id, kind, config, billing_unit, spent, estimate, created_by, finished_at)
       VALUES ($2, $1, 'completed', $3, $4, jsonb_build_object('instruction', $5::text), 'usd', 0.5, '{"model_calls": 1, "credits": null, "usd": "0.5"}', $6, now())`),
      [o.id, id, o.agentId, kind, o.mark, o.ownerId],
    );
    await db.execute(
      sql(`INSERT INTO replay_items (replay_id, place, org_id, chat_id, decision, result, verdict, differences, misses, cost_before, tokens_before, cost)
       VALUES ($2, 0, $1, $3, $4, $5, $6, '{}', 0, 0.5, 1, 0.5)`),
      [o.id, id, o.chatId, of && JSON.stringify(of), JSON.stringify(result), of && 'no_decision'],
    );
  }
  return { check_id: checkId, simulation_id: simulationId };
}

/** A row of each table of billing. */
export async function billed(db: Database, o: { id: string; mark: string; ownerId: string }): Promise<void> {
  const rows: [string, unknown[]][] = [
    [`INSERT INTO plans (id, code, name) VALUES ($1, $2, $2)`, [uuidv7(), `plan-${o.mark}`]],
    [
      `INSERT INTO subscriptions (org_id, plan_id) SELECT $1, id FROM plans WHERE code = $2 ON CONFLICT DO NOTHING`,
      [o.id, `plan-${o.mark}`],
    ],
    [`INSERT INTO external_subscriptions (id, org_id, modified_at) VALUES ($2, $1, now())`, [o.id, `external-${o.mark}`]],
    [
      `INSERT INTO billing_orders (id, org_id, kind, code, billing_reason, paid_at) VALUES ($2, $1, 'pack', $2, 'purchase', now())`,
      [o.id, `order-${o.mark}`],
    ],
    [
      `INSERT INTO billing_checkouts (id, org_id, user_id, kind, code) VALUES ($2, $1, $3, 'pack', $2)`,
      [o.id, `checkout-${o.mark}`, o.ownerId],
    ],
    [
      `INSERT INTO billing_events (id, delivery_id, type, org_id, status, payload) VALUES ($3, $2, 'order.paid', $1, 'ignored', jsonb_build_object('of', $2::text))`,
      [o.id, `delivery-${o.mark}`, uuidv7()],
    ],
    [`INSERT INTO former_slugs (slug, org_id) VALUES ($2, $1)`, [o.id, `former-${o.mark}`]],
    [`INSERT INTO trial_grants (email_canonical, org_id) VALUES ($2, $1)`, [o.id, `${o.mark}@trial.example`]],
    [`SELECT credit_post($1, 'granted', 5, 'adjust', $2, NULL, NULL, NULL, $2, NULL)`, [o.id, `adjust:${o.mark}`]],
  ];
  for (const [text, values] of rows) await db.execute(sql(text), values);
}
