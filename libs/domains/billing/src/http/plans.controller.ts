import { Body, Controller, Delete, Get, Param, Post, Put } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  BillingCatalogResponse,
  PackProductRow,
  PlanListResponse,
  PlanResponse,
  PutPackRequest,
  PutPlanProductsRequest,
  PutPlanRequest,
} from '@aps/dtos';
import { type ActingUser, CurrentOperator, PlatformAdmin } from '@aps/guards';
import { Operation } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import { ENTITLEMENT_FIELDS } from '../plans/catalog.policy';
import { PacksService } from '../plans/packs.service';
import { PlansQueries } from '../plans/plans.queries';
import { PlansService } from '../plans/plans.service';
import { toCatalog, toPack, toPlan } from './plans.convert';

@ApiTags('Administration: billing')
@Controller('/api/admin/plans')
@PlatformAdmin()
export class AdminPlansController {
  constructor(
    private readonly plans: PlansService,
    private readonly queries: PlansQueries,
  ) {}

  @Get()
  @Operation({ summary: 'List the plans', description: 'All of them, in display order.', answers: PlanListResponse })
  async list() {
    const items = (await this.queries.list()).map(toPlan);
    return { items, total: items.length, next_offset: null, entitlement_fields: ENTITLEMENT_FIELDS };
  }

  @Post()
  @Idempotent()
  @Operation({ summary: 'Make a plan', answers: PlanResponse, refuses: ['code_taken', 'product_taken'] })
  async create(@CurrentOperator() operator: ActingUser, @Body() body: PutPlanRequest) {
    return toPlan(await this.plans.create(operator, body));
  }

  @Put(':plan_id')
  @Operation({
    summary: 'Replace what a plan says',
    description:
      'As a whole: what is left out has its default. Entitlements of its subscribers follow within a second; credits that were granted stay, and nothing that exceeds a cap is deleted. The plan that settings name for new organizations, and `trial`, to which those go back whose subscription ends, are that by their code: under another one they are it no longer. A change of plan that is not paid yet keeps the code that it was asked for by.',
    answers: PlanResponse,
    refuses: ['code_taken', 'product_taken'],
  })
  async replace(@CurrentOperator() operator: ActingUser, @Param('plan_id') planId: string, @Body() body: PutPlanRequest) {
    return toPlan(await this.plans.replace(operator, planId, body));
  }

  @Put(':plan_id/polar-products')
  @Operation({
    summary: 'Set what the payment provider sells as a plan',
    answers: BillingCatalogResponse,
    refuses: ['product_taken'],
  })
  async setProducts(@CurrentOperator() operator: ActingUser, @Param('plan_id') planId: string, @Body() body: PutPlanProductsRequest) {
    return toCatalog(await this.plans.setProducts(operator, planId, body));
  }

  @Delete(':plan_id')
  @Operation({
    summary: 'Delete a plan',
    description: 'Nobody may be subscribed to it, in whatever state.',
    refuses: ['plan_in_use'],
  })
  async remove(@CurrentOperator() operator: ActingUser, @Param('plan_id') planId: string) {
    await this.plans.delete(operator, planId);
  }
}

@ApiTags('Administration: billing')
@Controller('/api/admin/credit-packs')
@PlatformAdmin()
export class AdminCreditPacksController {
  constructor(
    private readonly packs: PacksService,
    private readonly queries: PlansQueries,
  ) {}

  @Get()
  @Operation({ summary: 'List the credit packs', description: 'Retired ones, too, in display order.', answers: [PackProductRow] })
  async list() {
    return (await this.queries.listPacks()).map(toPack);
  }

  @Post()
  @Idempotent()
  @Operation({ summary: 'Make a credit pack', answers: PackProductRow, refuses: ['code_taken', 'product_taken'] })
  async create(@CurrentOperator() operator: ActingUser, @Body() body: PutPackRequest) {
    return toPack(await this.packs.create(operator, body));
  }

  @Put(':pack_id')
  @Operation({
    summary: 'Replace what a credit pack says',
    description: 'As a whole: what is left out has its default. What was bought stays as it was bought.',
    answers: PackProductRow,
    refuses: ['code_taken', 'product_taken'],
  })
  async replace(@CurrentOperator() operator: ActingUser, @Param('pack_id') packId: string, @Body() body: PutPackRequest) {
    return toPack(await this.packs.replace(operator, packId, body));
  }

  @Delete(':pack_id')
  @Operation({
    summary: 'Delete a credit pack',
    description: 'An order for it that is still under way would find nothing: to retire it is preferred.',
  })
  async remove(@CurrentOperator() operator: ActingUser, @Param('pack_id') packId: string) {
    await this.packs.delete(operator, packId);
  }
}

@ApiTags('Administration: billing')
@Controller('/api/admin/billing/catalog')
@PlatformAdmin()
export class AdminCatalogController {
  constructor(private readonly queries: PlansQueries) {}

  @Get()
  @Operation({
    summary: 'See what the payment provider sells',
    description: 'Plans and packs with their products; null is not for sale.',
    answers: BillingCatalogResponse,
  })
  async get() {
    return toCatalog(await this.queries.catalog());
  }
}
