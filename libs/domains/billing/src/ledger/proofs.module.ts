import { Module } from '@nestjs/common';
import { ProofQueries } from './proof.queries';
import { ProofsRepository } from './proofs.repository';
import { ProofsService } from './proofs.service';

/** Whether credits are what their rows say. */
@Module({ providers: [ProofQueries, ProofsRepository, ProofsService], exports: [ProofQueries, ProofsRepository, ProofsService] })
export class ProofsModule {}
