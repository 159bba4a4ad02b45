import { Controller, Get, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { ProofInvariant, ProofQuery, ProofRequestResponse, ProofResponse } from '@aps/dtos';
import { type ActingUser, CurrentOperator, PlatformAdmin } from '@aps/guards';
import { answer, Operation } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import { ProofQueries } from '../ledger/proof.queries';
import { ProofsService } from '../ledger/proofs.service';

@ApiTags('Administration: billing')
@Controller('/api/admin/credits/proof')
@PlatformAdmin()
export class AdminProofController {
  constructor(
    private readonly proofs: ProofQueries,
    private readonly service: ProofsService,
  ) {}

  @Get()
  @Operation({
    summary: 'Prove that credits are what their rows say',
    description: 'Computes each invariant anew, from rows, as of one moment. Nobody waits for it; over a million rows it takes seconds.',
    answers: ProofResponse,
    refuses: ['proof_running'],
  })
  async prove(@Query() { org_id }: ProofQuery) {
    const proof = await this.proofs.prove(org_id ?? null);
    return answer(ProofResponse, proof, { invariants: proof.invariants.map((invariant) => answer(ProofInvariant, invariant)) });
  }

  @Post()
  @Idempotent()
  @Operation({
    summary: 'Have all credits proven apart from this request',
    description:
      'As each night. What comes of it are the metrics `ledger_invariant_violations`, and a line of the log where something is wrong.',
    status: 202,
    answers: ProofRequestResponse,
  })
  async request(@CurrentOperator() operator: ActingUser) {
    return answer(ProofRequestResponse, { proof_id: await this.service.request(operator) });
  }
}
