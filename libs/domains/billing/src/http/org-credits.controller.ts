import { Body, Controller, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  AdjustCreditsRequest,
  AdjustCreditsResponse,
  CreditReceiptResponse,
  ForensicsBucketResponse,
  ForensicsQuery,
  ForensicsResponse,
  LedgerRow,
  OrgCreditsResponse,
  ResetBaselineRequest,
  ResetBaselineResponse,
  RollPeriodRequest,
  RollPeriodResponse,
  SubscriptionResponse,
  UpdateSubscriptionRequest,
} from '@aps/dtos';
import { type ActingUser, CurrentOperator, OperatedOrg, OrgScope, PlatformAdmin } from '@aps/guards';
import { OrgDirectoryQueries } from '@aps/orgs';
import { answer, Operation, PageOf, PageQuery, toPage } from '@aps/platform/http';
import { IdempotencyAttempt, Idempotent, type Attempt } from '@aps/platform/idempotency';
import type { CreditLedgerRow, InferenceReceipt } from '@aps/entities';
import { CreditReceiptsQueries, type Forensics } from '../ledger/receipts.queries';
import { CreditAccountsQueries, type CreditAccount } from '../subscriptions/credit-accounts.queries';
import { CreditAccountsService } from '../subscriptions/credit-accounts.service';

/** What organizations have, and what operators do about it. */
@ApiTags('Administration: billing')
@Controller('/api/admin/orgs/:org_id')
@PlatformAdmin()
export class AdminOrgCreditsController {
  constructor(
    private readonly accounts: CreditAccountsService,
    private readonly queries: CreditAccountsQueries,
    private readonly receipts: CreditReceiptsQueries,
    private readonly directory: OrgDirectoryQueries,
  ) {}

  @Get('credits')
  @Operation({ summary: 'Get the credits and the subscription of an organization', answers: OrgCreditsResponse })
  async get(@Param('org_id') orgId: string) {
    return toOrgCredits(await this.queries.get(orgId), await this.queries.isReconciled(orgId));
  }

  @Post('credits/adjust')
  @Idempotent()
  @Operation({
    summary: 'Adjust the credits of an organization',
    description:
      'A row of the ledger and one of the audit log. A debit takes granted credits, then bought ones, then granted ones below zero without limit; a credit goes to granted ones.',
    status: 200,
    answers: AdjustCreditsResponse,
  })
  async adjust(
    @CurrentOperator() operator: ActingUser,
    @Param('org_id') orgId: string,
    @Body() body: AdjustCreditsRequest,
    @IdempotencyAttempt() attempt: Attempt | undefined,
  ) {
    return answer(AdjustCreditsResponse, await this.accounts.adjust(operator, orgId, body, attempt));
  }

  @Get('credits/ledger')
  @Operation({
    summary: 'List what moved the credits of an organization',
    description: 'Newest first; of one that is deleted, too.',
    answers: PageOf(LedgerRow, 'LedgerListResponse'),
  })
  async ledger(@OperatedOrg() scope: OrgScope, @Query() query: PageQuery) {
    await this.directory.assertKnown(scope);
    return toPage(await this.queries.ledger(scope, query), query, toLedgerRow);
  }

  @Get('credits/receipts')
  @Operation({
    summary: 'List what the calls of an organization have cost',
    description: 'Every model call, newest first: what it used, and by which rule of which rate card it was charged.',
    answers: PageOf(CreditReceiptResponse, 'CreditReceiptListResponse'),
  })
  async receiptsOf(@OperatedOrg() scope: OrgScope, @Query() query: PageQuery) {
    await this.directory.assertKnown(scope);
    return toPage(await this.receipts.page(scope, query), query, toReceipt);
  }

  @Get('credits/forensics')
  @Operation({
    summary: 'See what has burned the credits of an organization',
    description: 'Sums of the window that ends now; what is said of the ledger is of all time.',
    answers: ForensicsResponse,
  })
  async forensics(@OperatedOrg() scope: OrgScope, @Query() { days }: ForensicsQuery) {
    return toForensics(await this.receipts.forensics(scope, days));
  }

  @Post('credits/roll-period')
  @Idempotent()
  @Operation({
    summary: 'Close the period of an organization',
    description:
      'As the job would that runs each minute, so it does nothing before the period is over. `force` ends it now, where the deployment has CREDITS_FORCE_PERIOD_ROLL_ENABLED.',
    status: 200,
    answers: RollPeriodResponse,
    refuses: ['forced_roll_disabled'],
  })
  async roll(
    @CurrentOperator() operator: ActingUser,
    @Param('org_id') orgId: string,
    @Body() { force = false }: RollPeriodRequest,
    @IdempotencyAttempt() attempt: Attempt | undefined,
  ) {
    return answer(RollPeriodResponse, await this.accounts.rollPeriod(operator, orgId, force, attempt));
  }

  @Post('reset-baseline')
  @Idempotent()
  @Operation({
    summary: 'Set an organization to where a plan begins',
    description:
      'The plan, no overrides, a new period, and granted credits of its allocation, moved by an adjustment. Bought credits stay. Where it is so already, nothing is written.',
    status: 200,
    answers: ResetBaselineResponse,
  })
  async reset(
    @CurrentOperator() operator: ActingUser,
    @Param('org_id') orgId: string,
    @Body() body: ResetBaselineRequest,
    @IdempotencyAttempt() attempt: Attempt | undefined,
  ) {
    return answer(ResetBaselineResponse, await this.accounts.resetBaseline(operator, orgId, body, attempt));
  }

  @Patch('subscription')
  @Operation({
    summary: 'Change the subscription of an organization',
    description:
      'Another plan expires what the outgoing one has granted, and brings its own credits once ever. Gates in every process follow within a second.',
    answers: OrgCreditsResponse,
    refuses: ['not_subscribed'],
  })
  async update(@CurrentOperator() operator: ActingUser, @Param('org_id') orgId: string, @Body() body: UpdateSubscriptionRequest) {
    // Where it cannot be answered nothing must have changed.
    const reconciled = await this.queries.isReconciled(orgId);
    return toOrgCredits(await this.accounts.update(operator, orgId, body), reconciled);
  }
}

function toOrgCredits(account: CreditAccount, reconciled: boolean) {
  const subscription = account.subscription && answer(SubscriptionResponse, account.subscription);
  return answer(OrgCreditsResponse, account, { subscription, reconciled });
}

const toLedgerRow = (row: CreditLedgerRow) => answer(LedgerRow, row, { seq: Number(row.seq) });

const toReceipt = (receipt: InferenceReceipt) => {
  const { input_tokens, cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens } = receipt;
  return answer(CreditReceiptResponse, receipt, {
    tokens: {
      input: input_tokens,
      cached_input: cached_input_tokens,
      cache_write: cache_write_tokens,
      output: output_tokens,
      reasoning: reasoning_tokens,
    },
  });
};
const toForensics = (forensics: Forensics) =>
  answer(ForensicsResponse, forensics, {
    buckets: forensics.buckets.map(({ feature, model_key, day, ...sums }) =>
      answer(ForensicsBucketResponse, sums, { key: { feature, model_key, day } }),
    ),
  });
