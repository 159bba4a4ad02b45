import type { MessageFacts } from '../message-facts';
import { compile, type CompiledRules } from '../rule-set.compile';
import { readRuleSet } from '../rule-set.policy';
import type { RuleSet } from '../rule-set.schema';

/** A mail of which every field is there. */
export const MAIL: MessageFacts = {
  channel: 'email',
  sender: { address: 'ada@mail.acme.com', name: 'Ada Lovelace' },
  recipient: 'sales+eu@acme.example',
  subject: 'Your INVOICE of May',
  body_text: 'Dear all,\nplease find the Invoice 4711 enclosed.',
  attachments: [
    { filename: 'Invoice.PDF', media_type: 'application/pdf', size_bytes: 1_000 },
    { filename: 'photo.png', media_type: 'image/png', size_bytes: 2_000 },
  ],
  headers: { 'x-spam-score': '7.5', 'reply-to': 'Ada <ada@shop.acme.com>, else', 'x-empty': '' },
  payload: null,
  auth: { spf: 'pass', dkim: 'fail', dmarc: 'none' },
  size_bytes: 4_096,
  tags: ['vip', 'EU'],
};

/** A webhook of which nothing is known but its payload. */
export const webhook = (payload: unknown): MessageFacts => ({
  channel: 'webhook',
  sender: null,
  recipient: null,
  subject: null,
  body_text: '',
  attachments: [],
  headers: {},
  payload,
  auth: null,
  size_bytes: 0,
  tags: [],
});

export function ruleSetOf(definition: unknown): RuleSet {
  const read = readRuleSet(definition);
  if ('problems' in read) throw new Error(`It is no rule set: ${JSON.stringify(read.problems)}`);
  return read.ruleSet;
}

export const rulesOf = (definition: unknown): CompiledRules => compile(ruleSetOf(definition));
