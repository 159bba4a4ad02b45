import { USAGE_TALLY } from '@aps/entities';
import { anOrg } from '@aps/orgs/testing';
import { sql } from '@aps/platform/testing';
import { foldTally, sumsOf } from '@aps/testing';
import { uuidv7 } from 'uuidv7';
import { inferenceService } from './testing/inference';

const t = inferenceService();

it('what calls have cost is added up for everybody, however much it is of one', async () => {
  const [dear, cheap] = [await anOrg(t), await anOrg(t)];
  for (const [org, usd] of [
    [dear, '90000000000000'],
    [cheap, '0.25'],
    [dear, '90000000000000'],
    [cheap, '0.25'],
  ] as const)
    await t.db.execute(
      sql(`INSERT INTO inference_receipts (id, org_id, feature, chat_id, model_key, resolve_reason, route_id, input_tokens, cached_input_tokens, cache_write_tokens,
        output_tokens, reasoning_tokens, usd_cost, credits, enforced, duration_ms, created_at)
        VALUES ($1, $2, 'turn', $1, 'mock', 'requested', $1, 1, 0, 0, 0, 0, $3, $3, false, 1, '2026-11-01')`),
      [uuidv7(), org.id, usd],
    );
  while (await foldTally(t.db, USAGE_TALLY));
  const summed = (usd: string) => ({ calls: '2', usd_cost: usd, chats_usd_cost: usd, credits: usd });
  expect(await sumsOf(t.db, USAGE_TALLY)).toMatchObject([summed('180000000000000.000000'), summed('0.500000')]);
});
