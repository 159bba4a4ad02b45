import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { canonicalJson } from '@aps/agents';
import { notFound } from '@aps/contracts';
import type { Tx } from '@aps/platform/database';
import { counter } from '@aps/platform/observability';
import { ToolCatalog } from '@aps/tools';
import { uuidv7 } from 'uuidv7';
import { DecisionsRepository } from './decisions.repository';
import type { DecisionPlace, DecisionRow, NewDecision } from './decisions.types';

const recorded = counter('decisions_recorded_total', 'Decisions that agents have recorded, by kind', ['kind']);

/** Writes down what agents decide. */
@Injectable()
export class DecisionRecorder {
  constructor(
    private readonly decisions: DecisionsRepository,
    private readonly catalog: ToolCatalog,
  ) {}

  /**
   * Records a decision in the transaction of the call that makes it. The same call records it once.
   *
   * @param d with texts that a database can hold, trimmed
   * @throws DomainError `not_found` when there is no such chat
   */
  async record(tx: Tx, place: DecisionPlace, d: NewDecision): Promise<DecisionRow> {
    const row = await this.decisions.record(tx, place, {
      id: uuidv7(),
      // Models know a tool by its name; humans, and the gate, by its slug.
      tool_slug: d.tool_slug === undefined ? null : (this.catalog.slugOf(d.tool_slug) ?? d.tool_slug),
      arguments_digest: d.arguments ? createHash('sha256').update(canonicalJson(d.arguments)).digest('hex') : null,
      kind: d.kind,
      summary: d.summary,
      basis: d.basis,
      rationale: d.rationale || null,
      deviation: d.deviation,
      determination: d.determination,
      confidence: d.confidence ?? null,
    });
    if (!row) throw notFound('Chat');
    tx.afterCommit(() => recorded.inc({ kind: row.kind }));
    return row;
  }
}
