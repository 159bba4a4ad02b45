import { Module } from '@nestjs/common';
import { RunLeases } from './run-leases';
import { RunSweeper } from './run-sweeper';
import { Runs } from './runs';

/** For worker applications: what runs the kinds of runs that domains have. */
@Module({ providers: [Runs, RunLeases, RunSweeper], exports: [Runs, RunLeases, RunSweeper] })
export class RunsModule {}
