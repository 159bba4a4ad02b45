import { Module } from '@nestjs/common';
import { RunLeases } from './run-leases';
import { RunOwner } from './run-owner';
import { RunReaper } from './run-reaper';
import { RunSignals } from './run-signals';
import { RunSweeper } from './run-sweeper';
import { Runs } from './runs';

/** For worker applications: what runs the kinds of runs that domains have. */
@Module({ providers: [Runs, RunLeases, RunOwner, RunReaper, RunSignals, RunSweeper], exports: [Runs, RunLeases, RunSweeper] })
export class RunsModule {}
