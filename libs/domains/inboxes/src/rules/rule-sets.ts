import { Injectable } from '@nestjs/common';
import { notFound } from '@aps/contracts';
import { WeightedLru } from '@aps/platform/cache';
import { Database } from '@aps/platform/database';
import { storedRuleSet } from './revision.policy';
import { compile, type CompiledRules } from './rule-set.compile';
import { EMPTY_RULE_SET } from './rule-set.schema';
import { DEFINITION } from './rule-sets.sql';

/** Definitions that one process keeps compiled, in bytes of their JSON; compiled they are a few times that. */
const CACHE_BYTES = 16 * 1024 * 1024;

const NO_RULES = compile(EMPTY_RULE_SET);

/** The rule sets that messages run under, each compiled once. */
@Injectable()
export class RuleSets {
  private readonly compiled = new WeightedLru<CompiledRules>(CACHE_BYTES);

  constructor(private readonly db: Database) {}

  /**
   * Of a revision that is or was deployed; without one, what accepts everything.
   *
   * @throws DomainError `not_found`
   */
  async of(orgId: string, revisionId: string | null): Promise<CompiledRules> {
    if (revisionId === null) return NO_RULES;
    const key = `${orgId}/${revisionId}`;
    const known = this.compiled.get(key);
    if (known) return known;
    const [row] = await this.db.query(DEFINITION, [orgId, revisionId]);
    if (!row) throw notFound('Revision');
    const rules = compile(storedRuleSet(row.definition));
    this.compiled.set(key, rules, row.size);
    return rules;
  }
}
