import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { ProofInvariant, ProofQuery, ProofResponse } from '@aps/dtos';
import { PlatformAdmin } from '@aps/guards';
import { answer, Operation } from '@aps/platform/http';
import { ProofQueries } from '../ledger/proof.queries';

@ApiTags('Administration: billing')
@Controller('/api/admin/credits/proof')
@PlatformAdmin()
export class AdminProofController {
  constructor(private readonly proofs: ProofQueries) {}

  @Get()
  @Operation({
    summary: 'Prove that credits are what their rows say',
    description: 'Computes each invariant anew, from rows, as of one moment. Nobody waits for it; over a million rows it takes seconds.',
    answers: ProofResponse,
    refuses: ['proof_running'],
  })
  async prove(@Query() { org_id }: ProofQuery) {
    const proof = await this.proofs.prove(org_id ?? null);
    return answer(ProofResponse, proof, { invariants: proof.invariants.map((invariant) => answer(ProofInvariant, invariant as never)) });
  }
}
