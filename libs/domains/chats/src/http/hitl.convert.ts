import { type HitlAnswer, HitlRequest } from '@aps/dtos';
import type { HitlRequest as HitlRow } from '@aps/entities';
import { answer } from '@aps/platform/http';

export function toHitlRequest(row: HitlRow): HitlRequest {
  return answer(HitlRequest, row, {
    options: row.options ?? [],
    answer: row.answer as HitlAnswer | null,
  });
}
