import { Injectable } from '@nestjs/common';
import type { HitlRequest, HitlStatus } from '@aps/entities';
import { readerOf, seenByEither, type OrgScope } from '@aps/guards';
import { batchesOf, Database, OrgListing, type Db, type Listed, type Slice } from '@aps/platform/database';
import { mayAnswer } from './hitl.policy';

/** Which requests are listed; what is not given does not matter. */
export interface HitlFilter {
  status?: HitlStatus;
  chat_id?: string;
  run_id?: string;
  agent_id?: string;
}

/** A request with what decides who may answer it. */
export type SeenRequest = HitlRequest & {
  /** False when the assignee has left the organization, or is deactivated: then anybody who sees the request may answer. */
  assignee_is_member: boolean;
};

/** What a reader sees by what it belongs to, and what else is assigned to the reader: so none is found twice. */
const seen = (row: string): string[] => [
  ...seenByEither('$', row),
  `${row}.assignee_user_id = $ AND NOT (${seenByEither('$', row).join(' OR ')})`,
];

/** Requests of chats that the caller may open, of process runs, and those that are assigned to the caller; as {@link readerOf} says who reads. */
const SEEN = new OrgListing<SeenRequest, HitlFilter & { seen_by?: string; seen?: boolean }>({
  key: 'h.id',
  org: 'h.org_id',
  select: `h.*, EXISTS (SELECT 1 FROM memberships a JOIN users u ON u.id = a.user_id
           WHERE a.org_id = h.org_id AND a.user_id = h.assignee_user_id AND u.deactivated_at IS NULL) AS assignee_is_member`,
  from: 'hitl_requests h',
  where: {
    seen_by: seen('h'),
    seen: 'h.private_to IS NOT NULL',
    status: 'h.status = $',
    chat_id: 'h.chat_id = $',
    run_id: 'h.run_id = $',
    agent_id: 'h.agent_id = $',
  },
  tally: { from: 'hitl_tallies t', where: { seen_by: seen('t'), seen: 'true', status: 't.status = $', agent_id: 't.agent_id = $' } },
  order: 'h.id DESC',
  what: 'Request',
  rows: 'large',
});

/** Of what one run asks at a time. */
const MAX_LOOKED_AT = 100;

/** Reads questions to humans. */
@Injectable()
export class HitlQueries {
  constructor(private readonly db: Database) {}

  /** Newest first. */
  list(scope: OrgScope, { status, chat_id, run_id, agent_id }: HitlFilter, slice: Slice): Promise<Listed<HitlRequest>> {
    return SEEN.page(this.db, scope, { status, chat_id, run_id, agent_id, ...readerOf(scope) }, slice);
  }

  /** Whether a run asks something that the caller may answer. */
  async mayAnswerOne(scope: OrgScope, runId: string): Promise<boolean> {
    const asked = await SEEN.page(this.db, scope, { status: 'pending', run_id: runId, ...readerOf(scope) }, { limit: MAX_LOOKED_AT });
    for await (const some of batchesOf(asked)) if (some.some((request) => mayAnswer(request, scope))) return true;
    return false;
  }

  /** @throws DomainError 404 */
  get(scope: OrgScope, id: string, db: Db = this.db): Promise<SeenRequest> {
    return SEEN.get(db, scope, id, readerOf(scope));
  }
}
